import ProbeExplore
import Testing

struct TextEditsTests {
    @Test func editsApplyToOriginalOffsets() {
        var edits = TextEdits()
        edits.replace(4..<5, with: "X")
        edits.replace(0..<1, with: "")
        edits.replace(6..<6, with: "end")
        edits.replace(2..<2, with: "-")
        #expect(String(decoding: edits.applied(to: Array("abcdef".utf8)), as: UTF8.self) == "b-cdXfend")
    }

    @Test func nestedEditIsIgnored() {
        var edits = TextEdits()
        edits.replace(2..<3, with: "X")
        edits.replace(1..<5, with: "")
        #expect(String(decoding: edits.applied(to: Array("abcdef".utf8)), as: UTF8.self) == "af")
    }
}
