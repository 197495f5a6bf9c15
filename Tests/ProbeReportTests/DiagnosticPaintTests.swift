import ProbeReport
import Testing

/// Tests the colors of diagnostics.
@Suite struct DiagnosticPaintTests {
    private static let plain = """
        a b.scn:12:3: error: a server has no verb `acept` [unknown-verb]
          S acept
            ^^^^^
          hint: did you mean `accept`?
        a.scn:1:1: warning: error: in a message
        a.scn:2:1: note: here
        error: no file

        """

    @Test func linesAreColouredByKind() {
        #expect(
            DiagnosticPaint.painted(Self.plain) == """
                a b.scn:12:3: \u{1b}[1;31merror:\u{1b}[0m a server has no verb `acept` [unknown-verb]
                  S acept
                    \u{1b}[31m^^^^^\u{1b}[0m
                  \u{1b}[36mhint: did you mean `accept`?\u{1b}[0m
                a.scn:1:1: \u{1b}[33mwarning:\u{1b}[0m error: in a message
                a.scn:2:1: \u{1b}[1mnote:\u{1b}[0m here
                \u{1b}[1;31merror:\u{1b}[0m no file

                """)
    }

    @Test(arguments: ["", "\n", "error", "x: error:", "  ^ no caret", "a:1: text error: x", ": error: x"])
    func otherLinesAreUnchanged(text: String) {
        #expect(DiagnosticPaint.painted(text) == text)
    }
}
