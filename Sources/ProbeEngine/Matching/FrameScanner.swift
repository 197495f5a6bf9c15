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
        if framing == .netstring { return netstring(buffer, from: offset) }
        guard let prefix = framing.prefix else {
            return buffer.count > offset ? .unit(Unit(content: offset..<buffer.count, end: buffer.count)) : .incomplete
        }
        switch prefix.read(buffer.unread.dropFirst(offset)) {
        case .value(let length, let width): return body(buffer, from: offset + width, length: length)
        case .incomplete: return .incomplete
        case .tooLong: return .invalid("a varint prefix that is more than 64 bits")
        }
    }

    private static func netstring(_ buffer: ReceiveBuffer, from offset: Int) -> Scan {
        switch Netstring.read(buffer.unread.dropFirst(offset)) {
        case .value(let length, let width):
            guard case .unit(var unit) = body(buffer, from: offset + width, length: length) else {
                return body(buffer, from: offset + width, length: length)
            }
            guard buffer.count > unit.end else { return .incomplete }
            let bytes = buffer.unread
            guard bytes[bytes.startIndex + unit.end] == Netstring.end else {
                return .invalid("\(Netstring.Failure.noComma)")
            }
            unit.end += 1
            return .unit(unit)
        case .incomplete: return .incomplete
        case .wrong(.tooLong): return .tooLong("\(Netstring.Failure.tooLong) came: the harness keeps 64 MiB")
        case .wrong(let failure): return .invalid("\(failure)")
        }
    }

    private static func body(_ buffer: ReceiveBuffer, from start: Int, length: UInt64) -> Scan {
        if length > UInt64(Connection.receiveLimit) {
            return .tooLong("a length prefix of \(length) came, which is more than the harness keeps (64 MiB)")
        }
        let end = start + Int(length)
        return buffer.count >= end ? .unit(Unit(content: start..<end, end: end)) : .incomplete
    }
}
