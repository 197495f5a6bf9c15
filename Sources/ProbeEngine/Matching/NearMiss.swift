import ProbeBase
import ProbeScenario

/// Hints about near misses, so that users don't have to compare the bytes themselves.
enum NearMiss {
    static let resetInsteadOfFin =
        "check how the peer ends the connection: its kernel sends an RST instead of a FIN if a program closes a "
        + "socket that still has unread bytes, if SO_LINGER is 0, or if the process dies. Data sent before the "
        + "RST may be lost if it had not been read yet"

    static func bytes(expected: [UInt8], actual: [UInt8]) -> [String] {
        if normalised(actual).starts(with: normalised(expected)) && expected.contains(10) {
            return [lineEnds(expected: expected, actual: actual)]
        }
        if lowercased(expected) == lowercased(actual) {
            return [
                "check the letter case: the bytes are otherwise equal"
            ]
        }
        if expected.count > 1 && actual.starts(with: expected.dropFirst()) {
            return ["check the start of the message: the first byte is missing"]
        }
        return []
    }

    static func line(expected: ExpectedText, actual: [UInt8], framing: Framing) -> [String] {
        guard let value = expected.value else {
            if framing == .crlf && actual.contains(10) { return [lineFeedInside(actual)] }
            return []
        }
        if actual.last == 13 && Array(actual.dropLast()) == value {
            return ["check the terminator: the line ends with CRLF instead of \(framing.terminatorName)"]
        }
        if framing == .crlf && actual.contains(10) { return [lineFeedInside(actual)] }
        if lowercased(value) == lowercased(actual) {
            return [
                "check the letter case: the lines are otherwise equal; a regex with the flag `i` ignores the "
                    + "letter case"
            ]
        }
        if trimmed(value) == trimmed(actual) {
            return [
                "check the white space at the ends of the line: nothing else "
                    + "differs"
            ]
        }
        if actual.isEmpty { return ["expect the empty line first: `expect line \"\"`"] }
        return []
    }

    /// Returns a hint if one side contains U+FFFD, the replacement character, where the other side contains something
    /// else.
    static func replacement(expected: [UInt8], actual: [UInt8]) -> String? {
        let count = min(expected.count, actual.count)
        guard var index = (0..<count).first(where: { expected[$0] != actual[$0] }) else { return nil }
        // Go back to the start of the UTF-8 character, because its first bytes may equal those of U+FFFD.
        var steps = 0
        while index > 0, steps < 3, expected[index] & 0xC0 == 0x80 || actual[index] & 0xC0 == 0x80 {
            index -= 1
            steps += 1
        }
        let sign: [UInt8] = [0xEF, 0xBF, 0xBD]
        let (left, right) = (expected[index...], actual[index...])
        guard left.starts(with: sign) != right.starts(with: sign) else { return nil }
        let original = Array((left.starts(with: sign) ? right : left).prefix(4))
        guard let first = original.first, first >= 0x80 else { return nil }
        return Escaped.readableUnit(of: original, at: 0).length > 1
            ? "decode text only after reassembling it: a character was split in two, and U+FFFD replaced its parts"
            : "treat the data as bytes: U+FFFD replaced bytes that are not UTF-8"
    }

    /// Returns hints for an unterminated line that can no longer become the expected line.
    static func unterminated(expected: [UInt8], actual: [UInt8], framing: Framing) -> [String] {
        let end = Array(actual.dropFirst(expected.count))
        guard actual.starts(with: expected), let first = end.first else { return [] }
        switch (framing, first) {
        case (.crlf, 10): return ["check the terminator: the line ends with LF instead of CRLF"]
        case (.crlf, 13): return ["check the terminator: the line ends with CR instead of CRLF"]
        case (.lf, 13): return ["check the terminator: the script's framing is `lf`, but the line ends with CRLF or CR"]
        default: return []
        }
    }

    /// Returns hints for a connection that ended in the middle of a line.
    static func atEnd(expected: ExpectedText, actual: [UInt8], terminator: [UInt8], framing: Framing) -> [String] {
        if expected.match(actual) != nil && !actual.isEmpty {
            return ["check the terminator: the line was received without \(framing.terminatorName)"]
        }
        if framing == .crlf, actual.last == 10 {
            return [
                "check the terminator: the line ends with LF instead of "
                    + "CRLF"
            ]
        }
        if framing == .crlf, actual.last == 13, expected.match(Array(actual.dropLast())) != nil {
            return ["check the terminator: the last line ends with CR instead of CRLF"]
        }
        return []
    }

    /// Returns hints for input that did not arrive in time.
    static func atDeadline(_ expected: ConnectionExpectation<Resolved>, actual: [UInt8], framing: Framing) -> [String] {
        switch expected {
        case .line(let text, _), .untilLine(let text, _), .message(let text, _):
            if actual.isEmpty { return [] }
            let received = "received \(ByteText.count(actual.count, "byte"))"
            if framing == .crlf, actual.contains(10) {
                return ["check the terminator: \(received), with LF instead of CRLF"]
            }
            if framing == .lf, actual.contains(13) {
                return [
                    "check the terminator: the script's framing is `lf`, but the received data contains a CR "
                        + "instead"
                ]
            }
            if text.match(actual) != nil {
                return ["check the terminator: the line was received without \(framing.terminatorName)"]
            }
            return ["check the terminator: \(received), but no \(framing.terminatorName)"]
        default: return []
        }
    }

    /// Describes a line feed inside a line: either a line terminator that the framing doesn't recognize, or a bare line
    /// feed.
    private static func lineFeedInside(_ line: [UInt8]) -> String {
        let isWhole = zip(line, line.dropFirst()).contains { $0 == 13 && $1 == 10 }
        return isWhole
            ? "check how lines are divided: the line contains a CRLF"
            : "check the terminator: the line contains an LF without CR"
    }

    private static func lineEnds(expected: [UInt8], actual: [UInt8]) -> String {
        let expectsCRLF = expected.contains(13)
        return "check the terminator: \(expectsCRLF ? "received LF instead of CRLF" : "received CRLF instead of LF")"
    }

    private static func normalised(_ bytes: [UInt8]) -> [UInt8] { bytes.filter { $0 != 13 } }
    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] { bytes.map { (65...90).contains($0) ? $0 + 32 : $0 } }
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
