import ProbeBase
import ProbeEvents

/// Markup in which text from outside stays text, within elements and within attribute values.
///
/// Written here rather than with a template library: the maintained one for Swift, swift-mustache, imports Foundation,
/// which `tcpprobe run` does not load.
struct HTMLText {
    /// Well-formed markup.
    private(set) var markup: String

    /// - Parameter markup: a literal of this package, without any text from outside.
    init(markup: StaticString) { self.markup = "\(markup)" }

    private init(safe markup: String) { self.markup = markup }

    static let empty = HTMLText(safe: "")

    /// A text from outside. Control characters and invisible ones are shown as escapes of the script language; then the
    /// characters with a meaning in HTML are escaped (WHATWG HTML, 13.1.2 and 13.1.4).
    static func text(_ text: String) -> HTMLText { HTMLText(safe: escaped(Escaped.text(text))) }

    /// A text of several lines in which control characters are escaped already.
    static func lines(_ text: String) -> HTMLText {
        HTMLText(
            safe: text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { escaped(Escaped.text(String($0))) }.joined(separator: "\n"))
    }

    /// An element. The values of its attributes are texts from outside.
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

/// The attributes of an element, in order. Names are literals of this package, values may come from outside.
struct HTMLAttributes: ExpressibleByDictionaryLiteral {
    fileprivate var all: [(StaticString, String)]

    init(dictionaryLiteral elements: (StaticString, String)...) { all = elements }

    mutating func append(_ name: StaticString, _ value: String) { all.append((name, value)) }
}
