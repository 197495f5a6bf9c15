import ProbeBase
import ProbeEvents

/// HTML markup that can safely include untrusted text: the text can't become markup, either in an element or in an
/// attribute value. Only this type writes tags; their names are literals, and all other strings are escaped.
///
/// A template library is not used, because the maintained library for Swift, swift-mustache, imports Foundation, which
/// `tcpprobe run` does not load.
package struct HTMLText: Sendable {
    /// The well-formed markup, in UTF-8.
    package private(set) var bytes: [UInt8] = []

    package var markup: String { String(decoding: bytes, as: UTF8.self) }

    private init(safe markup: String) { bytes = Array(markup.utf8) }

    /// Creates markup from a literal.
    ///
    /// - Parameter markup: a literal of this package that contains no untrusted text.
    package init(markup: StaticString) { append(markup) }

    package static let empty = HTMLText(safe: "")
    package static let newline = HTMLText(safe: "\n")

    /// Returns markup that shows untrusted text. Control characters and invisible characters are shown as escapes of
    /// the script language; then the characters with a meaning in HTML are escaped (WHATWG HTML, sections 13.1.2 and
    /// 13.1.4).
    package static func text(_ text: String) -> HTMLText { HTMLText(safe: escaped(Escaped.text(text))) }

    /// Returns markup that shows multi-line untrusted text, keeping its line breaks.
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

    /// Returns an element. The attribute values may be untrusted.
    package static func element(
        _ name: StaticString, _ attributes: HTMLAttributes = [:], _ content: HTMLText...
    ) -> HTMLText {
        var element = HTMLText.empty
        element.append(name, attributes) { inside in
            for part in content { inside += part }
        }
        return element
    }

    /// Returns an element that contains untrusted text.
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

    /// Returns an SVG path that consists of lines. The lines have the color of the text, even if the page has no style
    /// sheet.
    ///
    /// - Parameter data: the path (SVG 2, section 9.3).
    package static func path(_ style: String?, _ data: String, dashes: String? = nil) -> HTMLText {
        shape(
            "path",
            ["class": style, "fill": "none", "stroke": "currentColor", "stroke-dasharray": dashes, "d": data])
    }

    /// Returns a table with column headings.
    ///
    /// - Parameter rows: the table's `tr` elements.
    package static func table(_ caption: String, _ columns: [String], _ rows: HTMLText) -> HTMLText {
        let head = columns.map { element("th", ["scope": "col"], $0) }.joined
        return element(
            "table", [:], element("caption", [:], caption), element("thead", [:], element("tr", [:], head)),
            element("tbody", [:], rows))
    }

    /// Appends an element to a large document without copying the element's content.
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
        // Most strings need no escapes. There may be millions of such strings, so they must be handled quickly.
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

/// The attributes of an element, in order. Their names are literals of this package, and their values may be untrusted.
/// An attribute whose value is `nil` is omitted.
package struct HTMLAttributes: ExpressibleByDictionaryLiteral, Sendable {
    fileprivate var all: [(StaticString, String?)]
    fileprivate var flags: [StaticString] = []

    package init(dictionaryLiteral elements: (StaticString, String?)...) { all = elements }

    package mutating func append(_ name: StaticString, _ value: String) { all.append((name, value)) }

    /// Appends an attribute without a value, such as `open`. These attributes follow all others.
    package mutating func append(flag name: StaticString) { flags.append(name) }
}
