import ProbeBase

/// The functions of values and integers.
enum Function: String, CaseIterable, Sendable {
    case base64, file, random, u8, u16, u32, u64, u16le, u32le, u64le, varint, sized, line, lines, int, len, cuts

    /// How it is called.
    var example: String {
        switch self {
        case .base64: "base64(\"aGk=\")"
        case .file: "file(\"payload.bin\")"
        case .random: "random(64KiB, seed 7)"
        case .sized: "sized(u16, \"text\")"
        case .line: "line(\"QUIT\")"
        case .lines: "lines(\"GET / HTTP/1.1\", \"Host: a\", \"\")"
        case .int: "int(x)"
        case .len: "len(x)"
        case .cuts: "cuts(\"220 ready\\r\\n\")"
        default: "\(rawValue)(12)"
        }
    }

    /// Of `u16` and its kin.
    var integerFormat: IntegerFormat? { IntegerFormat(rawValue: rawValue) }

    var makesInteger: Bool { self == .int || self == .len }
}
