import ProbeBase

/// Searches received bytes for the input that a member waits for.
struct MemberInput {
    enum Result: Equatable {
        /// The wait is satisfied and consumes the given number of bytes.
        case met(Int)
        /// The wait is not satisfied yet; the first `scanned` bytes need not be examined again.
        case pending(scanned: Int)
        case mismatch(String)
    }

    /// Returns whether a regex of the scenario language matches a line.
    typealias LineMatcher = ([UInt8]) -> Bool

    /// The number of bytes without a line terminator or delimiter after which a wait fails.
    static let longest = 1 << 18

    private static let lateDelimiter = "received no delimiter within \(longest) bytes"
    private static let longLine = "received no end of line within \(longest) bytes"

    /// Returns whether a member failed because of a limit of the harness rather than because of the bytes it received.
    static func isLimit(_ reason: String) -> Bool { reason == lateDelimiter || reason == longLine }

    var terminator: [UInt8]

    func look(
        for wait: MemberProgram.Wait, in bytes: Span<UInt8>, scanned: Int, matcher: LineMatcher?
    ) -> Result {
        switch wait {
        case .count(let count): return bytes.count >= count ? .met(count) : .pending(scanned: 0)
        case .eof:
            if bytes.isEmpty { return .pending(scanned: 0) }
            return .mismatch("received \(ByteText.count(bytes.count, "byte"))")
        case .until(let delimiter):
            guard let place = Self.place(of: delimiter, in: bytes, from: scanned) else {
                if bytes.count >= Self.longest + delimiter.count { return .mismatch(Self.lateDelimiter) }
                return .pending(scanned: max(0, bytes.count - delimiter.count + 1))
            }
            if place >= Self.longest { return .mismatch(Self.lateDelimiter) }
            return .met(place + delimiter.count)
        case .line(let test):
            guard let place = Self.place(of: terminator, in: bytes, from: scanned) else {
                if bytes.count >= Self.longest + terminator.count { return .mismatch(Self.longLine) }
                return .pending(scanned: max(0, bytes.count - terminator.count + 1))
            }
            if place >= Self.longest { return .mismatch(Self.longLine) }
            let accepts: Bool
            switch test {
            case .any: accepts = true
            case .equal(let wanted):
                accepts = wanted.count == place && (0..<place).allSatisfy { bytes[$0] == wanted[$0] }
            case .regex: accepts = matcher?((0..<place).map { bytes[$0] }) ?? false
            }
            if accepts { return .met(place + terminator.count) }
            return .mismatch("the line was \(Self.quoted((0..<min(place, 40)).map { bytes[$0] }, isCut: place > 40))")
        }
    }

    private static func quoted(_ bytes: [UInt8], isCut: Bool) -> String {
        "\"\(Escaped.text(bytes))\(isCut ? "…" : "")\""
    }

    /// Returns the offset of the first delimiter at or after `start`.
    private static func place(of delimiter: [UInt8], in bytes: Span<UInt8>, from start: Int) -> Int? {
        guard let last = delimiter.last, bytes.count >= delimiter.count else { return nil }
        let precedingCount = delimiter.count - 1
        var index = max(start, 0) + precedingCount
        while index < bytes.count {
            if bytes[index] == last,
                (0..<precedingCount).allSatisfy({ bytes[index - precedingCount + $0] == delimiter[$0] })
            {
                return index - precedingCount
            }
            index += 1
        }
        return nil
    }
}
