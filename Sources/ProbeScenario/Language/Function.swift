import ProbeBase

/// The functions that compute values and integers.
package enum Function: String, CaseIterable, Sendable {
    case base64, file, random, u8, u16, u24, u32, u64, u16le, u32le, u64le, varint, sized, line, lines, int, len, cuts

    /// The function's entry in the language table.
    package var entry: LanguageEntry {
        switch self {
        case .base64: Self.entry("base64", "base64(\"aGk=\")", "the bytes that the Base64 text encodes")
        case .file:
            Self.entry(
                "file", "file(\"payload.bin\")",
                "the contents of a regular file of at most 256 MiB. The path is relative to the script that contains the call, and must stay in the folder of that script: a symbolic link is followed only if its target is in the folder of the script that is run"
            )
        case .random:
            Self.entry(
                "random", "random(64KiB, seed 7)", "pseudorandom bytes, the same in every run and on every machine")
        case .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .u64le, .varint: integerEntry
        case .sized:
            Self.entry(
                "sized", "sized(u16, \"text\")", forms: ["sized(u16, V)"],
                "V preceded by its length; the length has one of the formats \(IntegerFormat.fixedWidthWords) and `varint`"
            )
        case .line:
            Self.entry(
                "line", "line(\"QUIT\")", forms: ["line(\"x\")"],
                "V as one line or message of the framing: followed by a terminator, or preceded by its length. The framing of the header applies, except in a `send` on a connection that has changed its framing: in that case, the framing of the connection applies"
            )
        case .lines:
            Self.entry(
                "lines", "lines(\"GET / HTTP/1.1\", \"Host: a\", \"\")", forms: ["lines(\"a\", \"b\")"],
                "the values as consecutive lines, each followed by a line terminator")
        case .int:
            Self.entry(
                "int", "int(x)", "the integer that the decimal text represents; the text may start with `-`",
                after: "let x = \"12\"")
        case .len: Self.entry("len", "len(x)", forms: ["len(V)"], "the number of bytes in V", after: "let x = \"12\"")
        case .cuts:
            Self.entry(
                "cuts", "cuts(\"220 ready\\r\\n\")", forms: ["cuts(V)", "cuts(V, 2)"],
                "after `each piece =`: every way to cut V once, or the given number of times")
        }
    }

    private var integerEntry: LanguageEntry {
        var entry = Self.entry(
            rawValue, "\(rawValue)(12)", forms: ["u8(n) u16(n) u24(n) u32(n) u64(n)"],
            "an integer in big-endian byte order; `u16le u32le u64le` are little-endian, and `varint(n)` has seven bits per byte, least significant bits first"
        )
        // All integer formats share one row of the reference.
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
