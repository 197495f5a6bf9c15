import ProbeBase
import ProbeScenario
import ProbeSystem

/// Finds the next unit (line or message) of a framing in what has come.
enum FrameScanner {
    struct Unit {
        /// Offsets of the content, without terminator or prefix.
        var content: Range<Int>
        /// Offset behind the unit.
        var end: Int
    }

    enum Scan {
        case unit(Unit)
        case incomplete
        /// The prefix says something that no peer may say.
        case invalid(String)
    }

    /// - Parameter searched: up to here no terminator begins, but for what the last bytes before may be the beginning of.
    static func next(_ framing: Framing, in buffer: ReceiveBuffer, from offset: Int, searched: Int = 0) -> Scan {
        if let terminator = framing.terminator {
            let start = max(offset, searched - (terminator.count - 1))
            guard let end = buffer.firstIndex(of: terminator, from: start) else { return .incomplete }
            return .unit(Unit(content: offset..<end, end: end + terminator.count))
        }
        if let width = framing.prefixWidth { return prefixed(buffer, offset, width: width) }
        if framing == .varint { return varint(buffer, offset) }
        return buffer.count > offset ? .unit(Unit(content: offset..<buffer.count, end: buffer.count)) : .incomplete
    }

    private static func prefixed(_ buffer: ReceiveBuffer, _ offset: Int, width: Int) -> Scan {
        guard buffer.count - offset >= width else { return .incomplete }
        var length: UInt64 = 0
        for index in 0..<width { length = length << 8 | UInt64(buffer[offset + index]) }
        return body(buffer, from: offset + width, length: length)
    }

    private static func varint(_ buffer: ReceiveBuffer, _ offset: Int) -> Scan {
        var length: UInt64 = 0
        for index in 0..<10 {
            guard offset + index < buffer.count else { return .incomplete }
            let byte = buffer[offset + index]
            if index == 9 && byte > 1 { return .invalid("a varint prefix that is more than 64 bits") }
            length |= UInt64(byte & 0x7f) << (7 * index)
            if byte & 0x80 == 0 { return body(buffer, from: offset + index + 1, length: length) }
        }
        return .invalid("a varint prefix of more than 10 bytes")
    }

    private static func body(_ buffer: ReceiveBuffer, from start: Int, length: UInt64) -> Scan {
        if length > UInt64(Connection.receiveLimit) {
            return .invalid("a length prefix of \(length), which is more than the harness keeps (64 MiB)")
        }
        let end = start + Int(length)
        return buffer.count >= end ? .unit(Unit(content: start..<end, end: end)) : .incomplete
    }
}

extension Framing {
    /// How many bytes a message is on the wire.
    func length(of message: [UInt8]) -> Int {
        let frame = terminator?.count ?? prefixWidth ?? 0
        return message.count + (self == .varint ? FrameEncoder.varint(UInt64(message.count)).count : frame)
    }
}
