/// The frames in one direction of a connection, by their headers alone (RFC 6455, 5.2). Never traps on any input.
package struct WebSocketFrames: Equatable, Sendable {
    /// The number of complete frames, including control frames.
    package private(set) var count = 0
    /// The number of complete data messages: frames that end one.
    package private(set) var messageCount = 0
    /// The rest of the stream after the last complete frame.
    package private(set) var rest = Rest.nothing

    package enum Rest: Equatable, Sendable {
        case nothing
        /// A head of the opening handshake is unfinished.
        case unfinishedHead(seen: Int)
        /// The server's answer is not 101.
        case refused([UInt8])
        /// `seen` bytes of a frame; `total` is `nil` while its header is incomplete.
        case unfinished(offset: Int, seen: Int, total: Int?)
        /// The frame's length has the highest bit set, which is not allowed.
        case tooLong(offset: Int, UInt64)
    }

    /// Reads frames.
    ///
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
    /// The header of a frame.
    package struct Header: Equatable, Sendable {
        package var isFinal: Bool
        package var opcode: UInt8
        /// The length of the header, with its extended length and its key.
        package var length: Int
        package var payloadLength: UInt64

        /// Reads a header; `nil` while the extended length, if there is one, is incomplete. The key may still be
        /// missing.
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

        /// The length of the whole frame; `nil` if its length has the highest bit set, or nearly so, which is
        /// impossible.
        package var total: Int? {
            guard payloadLength <= UInt64(Int.max - length) else { return nil }
            return length + Int(payloadLength)
        }
    }
}
