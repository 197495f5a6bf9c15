import ProbeReport
import Testing

/// Tests that a CI runner interprets no text as a command, wherever the output is cut.
struct WorkflowCommandFilterTests {
    /// Returns whether GitHub's runner interprets a line as a command: `::` after optional white space, or `##[`
    /// anywhere.
    private static func isCommand(_ line: some StringProtocol) -> Bool {
        let trimmed = line.unicodeScalars.drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(trimmed)).hasPrefix("::") || line.contains("##[")
    }

    private static let hostile = [
        "::error::x", "  ::error::x", "\t::error::x", "\u{a0}::x", "\u{3000}\u{2003}::x", "\u{85}::x", "\u{b}\u{c}::x",
        ":::x", "::::x", "##[error]x", "x ##[add-path]y", "###[x", "####[[x", "\r\n::x\r::y\n\n ::z", "::\n::\n::",
        "\u{2028}::x", "\u{feff}::x", "\u{200b} ::x",
    ]

    @Test(arguments: hostile) func outputContainsNoCommand(_ text: String) {
        let bytes = Array((text + "\n" + text).utf8)
        for cut in 0...bytes.count {
            var filter = WorkflowCommandFilter()
            let filtered = filter.filtered(Array(bytes[..<cut])) + filter.filtered(Array(bytes[cut...]))
            let lines = String(decoding: filtered, as: UTF8.self).unicodeScalars
                .split { $0 == "\n" || $0 == "\r" }.map { String($0) }
            #expect(!lines.contains(where: Self.isCommand), "\(text.debugDescription) cut at \(cut)")
        }
    }

    @Test(arguments: ["", "a::b\n", "  a ::b", "#[x] #", "{\"a\": [1]}\n", " : :x", "passed  a\n  at a.scn:1:2: x"])
    func otherTextIsUnchanged(_ text: String) {
        var filter = WorkflowCommandFilter()
        #expect(filter.filtered(Array(text.utf8)) == Array(text.utf8))
    }

    /// The filtered JSON string must represent the same characters as the original.
    @Test func jsonKeepsItsMeaning() throws {
        var filter = WorkflowCommandFilter()
        let line = filter.filtered(Array("{\"a\":\"##[x]\"}\n".utf8))
        #expect(String(decoding: line, as: UTF8.self) == "{\"a\":\"##\\u005bx]\"}\n")
    }
}
