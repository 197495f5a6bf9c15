import ProbeBase
import ProbeEvents

/// Markup in which text from outside remains text, within elements and within attribute values: tags are written only
/// here, from names that are literals, and every other string is escaped.
///
/// It doesn't use a template library, because the maintained one for Swift, swift-mustache, imports Foundation, which
/// `tcpprobe run` does not load.
package struct HTMLText: Sendable {
    /// Well-formed markup in UTF-8.
    package private(set) var bytes: [UInt8] = []

    package var markup: String { String(decoding: bytes, as: UTF8.self) }

    private init(safe markup: String) { bytes = Array(markup.utf8) }

    /// Creates markup from a literal.
    ///
    /// - Parameter markup: a literal of this package, without any text from outside.
    package init(markup: StaticString) { append(markup) }

    package static let empty = HTMLText(safe: "")
    package static let newline = HTMLText(safe: "\n")

    /// Returns a text from outside as markup. Control characters and invisible ones are shown as escapes of the script
    /// language; then the characters with a meaning in HTML are escaped (WHATWG HTML, 13.1.2 and 13.1.4).
    package static func text(_ text: String) -> HTMLText { HTMLText(safe: escaped(Escaped.text(text))) }

    /// Returns a text of several lines in which control characters have been escaped already.
    package static func lines(_ text: String) -> HTMLText {
        HTMLText(
            safe: text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { escaped(Escaped.text(String($0))) }.joined(separator: "\n"))
    }

    package static func + (left: HTMLText, right: HTMLText) -> HTMLText {
        var sum = left
        sum += right
        return sum
    }

    package static func += (left: inout HTMLText, right: HTMLText) { left.bytes += right.bytes }

    // MARK: Elements

    /// Returns an element. The values of its attributes are texts from outside.
    package static func element(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], _ content: HTMLText...
    ) -> HTMLText {
        var element = HTMLText.empty
        element.append(name, attributes) { inside in
            for part in content { inside += part }
        }
        return element
    }

    /// Returns an element whose content is a text from outside.
    package static func element(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], _ content: String
    ) -> HTMLText {
        element(name, attributes, .text(content))
    }

    /// Returns an element that has no end tag, such as `<input …>`.
    package static func void(_ name: StaticString, _ attributes: HTMLAttributes = [:]) -> HTMLText {
        var element = HTMLText.empty
        element.open(name, attributes)
        element.append(">")
        return element
    }

    /// Returns an SVG element without content, such as `<path …/>`.
    package static func shape(_ name: StaticString, _ attributes: HTMLAttributes) -> HTMLText {
        var element = HTMLText.empty
        element.open(name, attributes)
        element.append("/>")
        return element
    }

    /// Returns an SVG path of lines in the colour of the text, without style rules too.
    ///
    /// - Parameter data: the path (SVG 2, 9.3).
    package static func path(_ style: String?, _ data: String, dashes: String? = nil) -> HTMLText {
        shape(
            "path",
            ["class": style, "fill": "none", "stroke": "currentColor", "stroke-dasharray": dashes, "d": data])
    }

    /// Returns a table whose columns have headings.
    ///
    /// - Parameter rows: its `tr` elements.
    package static func table(_ caption: String, _ columns: [String], _ rows: HTMLText) -> HTMLText {
        let head = columns.map { element("th", ["scope": "col"], $0) }.joined
        return element(
            "table", [:], element("caption", [:], caption), element("thead", [:], element("tr", [:], head)),
            element("tbody", [:], rows))
    }

    /// Appends an element to a large document, whose content is not copied.
    package mutating func append(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], content: (inout HTMLText) -> Void
    ) {
        open(name, attributes)
        append(">")
        content(&self)
        append("</")
        append(name)
        append(">")
    }

    private mutating func open(_ name: StaticString, _ attributes: HTMLAttributes) {
        append("<")
        append(name)
        for (name, value) in attributes.all {
            guard let value else { continue }
            append(" ")
            append(name)
            append("=\"")
            bytes += HTMLText.escaped(Escaped.text(value)).utf8
            append("\"")
        }
        for name in attributes.flags {
            append(" ")
            append(name)
        }
    }

    private mutating func append(_ literal: StaticString) { literal.withUTF8Buffer { bytes += $0 } }

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

/// The attributes of an element, in order. Names are literals of this package, values may come from outside. An
/// attribute whose value is `nil` is omitted.
package struct HTMLAttributes: ExpressibleByDictionaryLiteral, Sendable {
    fileprivate var all: [(StaticString, String?)]
    fileprivate var flags: [StaticString] = []

    package init(dictionaryLiteral elements: (StaticString, String?)...) { all = elements }

    package mutating func append(_ name: StaticString, _ value: String) { all.append((name, value)) }

    /// Appends an attribute without a value, such as `open`, which comes after all others.
    package mutating func append(flag name: StaticString) { flags.append(name) }
}
