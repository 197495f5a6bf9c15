import ProbeEvents

/// The appearance of a cell on the page: a class for its color, a mark for readers who can't distinguish colors, and
/// a word for readers who can't see the mark.
struct CellAppearance {
    let kind: String
    let mark: String
    let word: String

    init(_ cell: ResultMatrix.Cell) {
        guard let verdict = cell.verdict else {
            (kind, mark, word) = ("notrun", "·", "not run")
            return
        }
        switch (cell.disposition, verdict) {
        case (.expected, _): (kind, mark, word) = ("expected", "✗", "expected")
        case (.unexpectedPass, _): (kind, mark, word) = ("unexpected", "✓", "unexpected")
        case (.advisory, _): (kind, mark, word) = ("advisory", "✗", "failed")
        case (_, .passed): (kind, mark, word) = ("passed", "✓", "passed")
        case (_, .failed): (kind, mark, word) = ("failed", "✗", "failed")
        case (_, .error): (kind, mark, word) = ("error", "!", "error")
        case (_, .inconclusive): (kind, mark, word) = ("inconclusive", "?", "inconclusive")
        case (_, .unsupported): (kind, mark, word) = ("unsupported", "–", "unsupported")
        case (_, .skipped): (kind, mark, word) = ("skipped", "–", "skipped")
        }
    }
}

/// The id of the element on the page for a case, or for one subject's result of the case. The id is unique and the same
/// in each run, so that links remain valid.
enum PageAnchor {
    static func of(_ id: String) -> String { encoded(id) }

    static func of(_ id: String, _ subject: String?) -> String { "\(encoded(id)):\(encoded(subject ?? ""))" }

    /// Returns the text with some bytes escaped as `~` and two hexadecimal digits: the bytes that a URL fragment can't
    /// contain (RFC 3986, section 3.5), and some bytes at which programs assume that a link ends.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789abcdef")
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "/"), UInt8(ascii: "="):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default: result += "~\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        // The id of an element must not be empty.
        return result.isEmpty ? "~" : result
    }
}

/// The text of `because` as markup: `owner/name#12` is a link to the issue, and any other text is unchanged.
enum IssueLink {
    static func html(_ text: String) -> HTMLText {
        guard let address = address(text) else { return .text(text) }
        return .element("a", ["href": address, "rel": "noreferrer"], text)
    }

    /// Returns the URL of the issue that the text names. Returns `nil` unless the text consists of two names separated
    /// by a slash, followed by `#` and a number. A name consists of letters, digits, `-`, `_` and `.`.
    static func address(_ text: String) -> String? {
        let halves = text.split(separator: "#", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[1].isEmpty, halves[1].utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        let names = halves[0].split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2,
            names.allSatisfy({ name in
                name.utf8.contains { $0 != UInt8(ascii: ".") }
                    && name.utf8.allSatisfy { byte in
                        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                            || "-_.".utf8.contains(byte)
                    }
            })
        else { return nil }
        return "https://github.com/\(names[0])/\(names[1])/issues/\(halves[1])"
    }
}

/// Diagnostics and timelines on the page, with the same lines as on the console. Important lines have CSS classes.
enum FailureMarkup {
    static func diagnostic(_ text: String) -> HTMLText {
        lines(text) { line in
            let text = line.drop { $0 == " " }
            if text.hasPrefix("^") { return "mark" }
            if text.hasPrefix("hint: ") { return "hint" }
            if text.hasPrefix("expected  ") { return "wanted" }
            if text.hasPrefix("actual    ") { return "got" }
            return nil
        }
    }

    static func timeline(_ timeline: String) -> HTMLText {
        // The title of the timeline is removed, because the page has its own title for the timeline.
        let lines = timeline.drop { $0 != "\n" }.dropFirst()
        return self.lines(String(lines)) { line in
            if line.hasPrefix("  > ") { return "blamed" }
            // The word that follows the time on a line of the timeline.
            let kind = line.drop { $0 == " " }.drop { $0 != " " }.prefix { _ in true }.drop { $0 == " " }
            return ["step", "packet", "output", "event", "note"].first { kind.hasPrefix("\($0) ") }
        }
    }

    private static func lines(_ text: String, _ kind: (Substring) -> String?) -> HTMLText {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        // The indentation of the console report is removed.
        return lines.map { line in
            let shown = HTMLText.lines(String(line.hasPrefix("  ") ? line.dropFirst(2) : line))
            guard let kind = kind(line) else { return shown + .newline }
            return .element("span", ["class": kind], shown) + .newline
        }.joined
    }
}
