import ProbeBase
import ProbeScenario
import ProbeSystem

/// Finds the next unit (line or message) of a framing in the received bytes.
enum FrameScanner {
    struct Unit {
        /// Offsets of the content, without terminator or prefix.
        var content: Range<Int>
        /// The offset after the unit.
        var end: Int
    }

    enum Scan {
        case unit(Unit)
        case incomplete
        /// The prefix has a value that no peer may send.
        case invalid(String)
        /// The prefix announces more bytes than the harness keeps.
        case tooLong(String)
    }

    /// Returns the unit that begins at `offset`.
    ///
    /// - Parameter searched: the offset before which no terminator begins, except possibly in the last bytes.
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
            .tooLong("a length prefix of \(length) came, which is more than the harness keeps (64 MiB)")
        case .tooLong(_, nil): .tooLong("\(error)")
        case .netstring(.tooLong):
            .tooLong("\(LengthPrefix.NetstringFailure.tooLong) came: the harness keeps 64 MiB")
        case .netstring(let failure): .invalid("\(failure)")
        case .varintTooLong: .invalid("a varint prefix that is more than 64 bits")
        }
    }
}
