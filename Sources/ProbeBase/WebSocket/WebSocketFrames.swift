/// The frames in one direction of a connection, by their headers alone (RFC 6455, 5.2). Never traps on any input.
package struct WebSocketFrames: Equatable, Sendable {
    /// Whole frames, control frames among them.
    package private(set) var count = 0
    /// Whole data messages: frames that end one.
    package private(set) var messageCount = 0
    /// What stands behind the last whole frame.
    package private(set) var rest = Rest.nothing

    package enum Rest: Equatable, Sendable {
        case nothing
        /// A head of the opening handshake is unfinished.
        case unfinishedHead(seen: Int)
        /// The server's answer is not 101.
        case refused([UInt8])
        /// So many bytes of a frame; `total` is nil as long as its header is unfinished.
        case unfinished(offset: Int, seen: Int, total: Int?)
        /// Its length has the highest bit set: no frame may be so long.
        case tooLong(offset: Int, UInt64)
    }

    /// - Parameter bytes: the stream from its first byte on, with its opening handshake.
    package init(_ bytes: Span<UInt8>) {
        switch WebSocketStart(bytes) {
        case .undecided: rest = .unfinishedHead(seen: bytes.count)
        case .refused(let line): rest = .refused(line)
        case .frames(let start): read(bytes, from: start)
        }
    }

    private mutating func read(_ bytes: Span<UInt8>, from start: Int) {
        var offset = start
        while offset < bytes.count {
            let header = WebSocketFrame.Header(bytes.extracting(offset..<bytes.count))
            let seen = bytes.count - offset
            guard let header else {
                rest = .unfinished(offset: offset, seen: seen, total: nil)
                return
            }
            guard let total = header.total else {
                rest = .tooLong(offset: offset, header.payloadLength)
                return
            }
            guard total <= seen else {
                rest = .unfinished(offset: offset, seen: seen, total: total)
                return
            }
            count += 1
            if header.isFinal, header.opcode < 8 { messageCount += 1 }
            offset += total
        }
    }
}

extension WebSocketFrame {
    /// What a frame says of itself ahead of its payload.
    package struct Header: Equatable, Sendable {
        package var isFinal: Bool
        package var opcode: UInt8
        /// With its extended length and its key.
        package var length: Int
        package var payloadLength: UInt64

        /// Nil as long as the extended length, if there is one, is unfinished; the key may still be to come.
        package init?(_ bytes: Span<UInt8>) {
            guard bytes.count >= 2 else { return nil }
            let width =
                switch bytes[1] & 0x7F {
                case 127: 8
                case 126: 2
                default: 0
                }
            guard bytes.count >= 2 + width else { return nil }
            isFinal = bytes[0] & 0x80 != 0
            opcode = bytes[0] & 15
            payloadLength = width == 0 ? UInt64(bytes[1] & 0x7F) : 0
            for index in 2..<2 + width { payloadLength = payloadLength << 8 | UInt64(bytes[index]) }
            length = 2 + width + (bytes[1] & 0x80 == 0 ? 0 : 4)
        }

        /// Nil where the length has the highest bit set, or nearly so: such a frame can't be.
        package var total: Int? {
            guard payloadLength <= UInt64(Int.max - length) else { return nil }
            return length + Int(payloadLength)
        }
    }
}
