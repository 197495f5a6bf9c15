import ProbeBase

/// The functions of values and integers.
package enum Function: String, CaseIterable, Sendable {
    case base64, file, random, u8, u16, u24, u32, u64, u16le, u32le, u64le, varint, sized, line, lines, int, len, cuts

    /// The function's entry in the language table.
    package var entry: LanguageEntry {
        switch self {
        case .base64: Self.entry("base64", "base64(\"aGk=\")", "the bytes that the text encodes")
        case .file:
            Self.entry(
                "file", "file(\"payload.bin\")",
                "the contents of a regular file, relative to the script that says so, never outside its folder: a symbolic link is followed only if it stays in the folder of the script that is run. At most 256 MiB"
            )
        case .random: Self.entry("random", "random(64KiB, seed 7)", "the same bytes on every run and machine")
        case .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .u64le, .varint: integerEntry
        case .sized:
            Self.entry(
                "sized", "sized(u16, \"text\")", forms: ["sized(u16, V)"],
                "V after its length; the prefix is \(IntegerFormat.fixedWidthWords) or `varint`")
        case .line:
            Self.entry(
                "line", "line(\"QUIT\")", forms: ["line(\"x\")"],
                "one unit of the framing: with its terminator, or its length before it. It uses the framing of the header, except after the `send` of a connection that has changed its framing"
            )
        case .lines:
            Self.entry(
                "lines", "lines(\"GET / HTTP/1.1\", \"Host: a\", \"\")", forms: ["lines(\"a\", \"b\")"],
                "several of them, joined")
        case .int:
            Self.entry("int", "int(x)", "decimal text to an integer, with an optional `-`", after: "let x = \"12\"")
        case .len: Self.entry("len", "len(x)", forms: ["len(V)"], "the number of bytes of V", after: "let x = \"12\"")
        case .cuts:
            Self.entry(
                "cuts", "cuts(\"220 ready\\r\\n\")", forms: ["cuts(V)", "cuts(V, 2)"],
                "after `each piece =`: every way to cut V once, or this number of times")
        }
    }

    private var integerEntry: LanguageEntry {
        var entry = Self.entry(
            rawValue, "\(rawValue)(12)", forms: ["u8(n) u16(n) u24(n) u32(n) u64(n)"],
            "an integer, big-endian; `u16le u32le u64le` little-endian; `varint(n)` seven bits a byte, lowest first")
        // One row of the reference represents all integer formats.
        if self != .u8 { entry.rows = [LanguageEntry.Row(forms: ["\(rawValue)(n)"], meaning: entry.meaning)] }
        return entry
    }

    private static func entry(
        _ name: String, _ example: String, forms: [String] = [], _ meaning: String, after preparation: String? = nil
    ) -> LanguageEntry {
        LanguageEntry(
            name, forms.isEmpty ? [example] : forms, meaning, example: example, after: preparation, timing: nil)
    }

    /// An example of a call.
    var example: String { entry.example }

    /// The integer format of `u16` and similar functions.
    var integerFormat: IntegerFormat? { IntegerFormat(rawValue: rawValue) }

    var makesInteger: Bool { self == .int || self == .len }
}
