import ProbeBase
import ProbeEvents

/// Text in HTML: what goes in comes out as text, in an element as well as in an attribute in double quotes.
///
/// Pages are put together from these small values, not by a template library: the one for Swift that is kept well, swift-mustache,
/// imports Foundation, which the path of `tcpprobe run` does not.
struct HTMLText {
    /// Well-formed markup.
    private(set) var markup: String

    /// - Parameter markup: markup that was written here, with no text from outside in it.
    init(markup: StaticString) { self.markup = "\(markup)" }

    private init(safe markup: String) { self.markup = markup }

    static let empty = HTMLText(safe: "")

    /// A text from outside: control characters and what is invisible are shown as a script would write them; then everything
    /// that HTML takes for its own is escaped (WHATWG HTML, 13.1.2 and 13.1.4).
    static func text(_ text: String) -> HTMLText { HTMLText(safe: escaped(Escaped.text(text))) }

    /// A text of several lines, each of which is fit for a terminal already.
    static func lines(_ text: String) -> HTMLText {
        HTMLText(
            safe: text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { escaped(Escaped.text(String($0))) }.joined(separator: "\n"))
    }

    /// An element with its attributes' values as texts.
    static func element(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], _ content: HTMLText...
    ) -> HTMLText {
        var markup = open(name, attributes)
        for part in content { markup += part.markup }
        return HTMLText(safe: markup + "</\(name)>")
    }

    /// An element that has no end tag: `<input …>`
    static func void(_ name: StaticString, _ attributes: HTMLAttributes = [:]) -> HTMLText {
        HTMLText(safe: open(name, attributes))
    }

    static func + (left: HTMLText, right: HTMLText) -> HTMLText { HTMLText(safe: left.markup + right.markup) }

    static func += (left: inout HTMLText, right: HTMLText) { left.markup += right.markup }

    private static func open(_ name: StaticString, _ attributes: HTMLAttributes) -> String {
        var markup = "<\(name)"
        for (name, value) in attributes.all {
            markup += " \(name)=\"\(escaped(Escaped.text(value)))\""
        }
        return markup + ">"
    }

    private static func escaped(_ text: String) -> String {
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
    var joined: HTMLText { reduce(into: .empty) { $0 += $1 } }
}

/// Attributes of an element, in their order: names that are written here, values that may come from anywhere.
struct HTMLAttributes: ExpressibleByDictionaryLiteral {
    fileprivate var all: [(StaticString, String)]

    init(dictionaryLiteral elements: (StaticString, String)...) { all = elements }

    mutating func append(_ name: StaticString, _ value: String) { all.append((name, value)) }
}
