import ProbeBase
import ProbeEvents

/// Markup in which text from outside remains text, within elements and within attribute values.
///
/// It doesn't use a template library, because the maintained one for Swift, swift-mustache, imports Foundation, which
/// `tcpprobe run` does not load.
package struct HTMLText: Sendable {
    /// Well-formed markup, or a part of it while it is being built.
    package private(set) var markup: String

    /// Creates markup from a literal.
    ///
    /// - Parameter markup: a literal of this package, without any text from outside.
    package init(markup: StaticString) { self.markup = "\(markup)" }

    private init(safe markup: String) { self.markup = markup }

    package static let empty = HTMLText(safe: "")

    /// Returns a text from outside as markup. Control characters and invisible ones are shown as escapes of the script
    /// language; then the characters with a meaning in HTML are escaped (WHATWG HTML, 13.1.2 and 13.1.4).
    package static func text(_ text: String) -> HTMLText { HTMLText(safe: escaped(Escaped.text(text))) }

    /// Returns a text of several lines in which control characters have been escaped already.
    package static func lines(_ text: String) -> HTMLText {
        HTMLText(
            safe: text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { escaped(Escaped.text(String($0))) }.joined(separator: "\n"))
    }

    /// Returns an element. The values of its attributes are texts from outside.
    package static func element(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], _ content: HTMLText...
    ) -> HTMLText {
        var markup = open(name, attributes)
        for part in content { markup += part.markup }
        return HTMLText(safe: markup + "</\(name)>")
    }

    /// Returns an element that has no end tag, such as `<input …>`.
    package static func void(_ name: StaticString, _ attributes: HTMLAttributes = [:]) -> HTMLText {
        HTMLText(safe: open(name, attributes))
    }

    package static func + (left: HTMLText, right: HTMLText) -> HTMLText { HTMLText(safe: left.markup + right.markup) }

    package static func += (left: inout HTMLText, right: HTMLText) { left.markup += right.markup }

    private static func open(_ name: StaticString, _ attributes: HTMLAttributes) -> String {
        var markup = "<\(name)"
        for (name, value) in attributes.all {
            markup += " \(name)=\"\(escaped(Escaped.text(value)))\""
        }
        return markup + ">"
    }

    // MARK: Large documents

    /// Appends markup, a literal of this package.
    package mutating func append(_ markup: StaticString) {
        self.markup += markup.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
    }

    package mutating func append(number: Int) { markup += String(number) }

    /// Appends a text from outside, for content or for the value of an attribute.
    package mutating func append(text: String) { markup += HTMLText.escaped(Escaped.text(text)) }

    package mutating func append(_ other: HTMLText) { markup += other.markup }

    private static func escaped(_ text: String) -> String {
        // The usual case; there may be millions of texts.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            !bytes.contains { $0 == 0x26 || $0 == 0x3C || $0 == 0x3E || $0 == 0x22 || $0 == 0x27 }
        }
        if isPlain == true { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Sequence<HTMLText> {
    package var joined: HTMLText { reduce(into: .empty) { $0 += $1 } }
}

/// The attributes of an element, in order. Names are literals of this package, values may come from outside.
package struct HTMLAttributes: ExpressibleByDictionaryLiteral {
    fileprivate var all: [(StaticString, String)]

    package init(dictionaryLiteral elements: (StaticString, String)...) { all = elements }

    package mutating func append(_ name: StaticString, _ value: String) { all.append((name, value)) }
}
