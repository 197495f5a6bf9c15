import ProbeBase
import ProbeScenario
import ProbeSystem

/// Finds the next unit (line or message) of a framing in the received bytes.
enum FrameScanner {
    struct Unit {
        /// The range of the content, without its terminator or length prefix.
        var content: Range<Int>
        /// The offset of the first byte after the unit.
        var end: Int
    }

    enum Scan {
        case unit(Unit)
        case incomplete
        /// The prefix has a value that no peer may send. The text describes the prefix.
        case invalid(String)
        /// The prefix announces more bytes than the harness keeps. The text is a predicate that states what was
        /// received.
        case tooLong(String)
    }

    /// Returns the unit that begins at `offset`.
    ///
    /// - Parameter searched: the number of bytes that have been searched for the terminator without a result. A
    ///   terminator may still begin in the last few of these bytes.
    static func next(_ framing: Framing, in buffer: ReceiveBuffer, from offset: Int, searched: Int = 0) -> Scan {
        if let terminator = framing.terminator {
            let start = max(offset, searched - (terminator.count - 1))
            guard let end = buffer.firstIndex(of: terminator, from: start) else { return .incomplete }
            return .unit(Unit(content: offset..<end, end: end + terminator.count))
        }
        guard let prefix = framing.prefix else {
            return buffer.count > offset ? .unit(Unit(content: offset..<buffer.count, end: buffer.count)) : .incomplete
        }
        do throws(FrameError) {
            let bytes = buffer.unread.dropFirst(offset)
            guard let (width, count) = try prefix.unit(in: bytes, limit: Connection.receiveLimit) else {
                return .incomplete
            }
            let content = (offset + width)..<(offset + width + count)
            return .unit(Unit(content: content, end: content.upperBound + (prefix.end == nil ? 0 : 1)))
        } catch {
            return unreadable(error)
        }
    }

    private static func unreadable(_ error: FrameError) -> Scan {
        switch error.kind {
        case .tooLong(_, let length?), .lengthOutOfRange(let length):
            .tooLong("received a length prefix of \(length), which is more than the harness keeps (64 MiB)")
        case .tooLong(_, nil): .tooLong("received \(error)")
        case .netstring(.tooLong):
            .tooLong("received \(LengthPrefix.NetstringFailure.tooLong), but the harness keeps 64 MiB at most")
        case .netstring(let failure): .invalid("\(failure)")
        case .varintTooLong: .invalid("a varint prefix of more than 64 bits")
        }
    }
}
