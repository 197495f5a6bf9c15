/// Counts the frames in one direction of a connection, reading only their headers (RFC 6455, section 5.2). Counting
/// never traps.
package struct WebSocketFrames: Equatable, Sendable {
    /// The number of complete frames, including control frames.
    package private(set) var count = 0
    /// The number of complete data messages, which is the number of data frames with FIN set.
    package private(set) var messageCount = 0
    /// What follows the last complete frame in the stream.
    package private(set) var rest = Rest.nothing

    package enum Rest: Equatable, Sendable {
        case nothing
        /// The head of an opening handshake is incomplete.
        case unfinishedHead(seen: Int)
        /// The server's response does not have the status 101.
        case refused([UInt8])
        /// Only `seen` bytes of a frame have arrived. `total` is `nil` if the frame's header is incomplete.
        case unfinished(offset: Int, seen: Int, total: Int?)
        /// The frame's length has its highest bit set, which RFC 6455 forbids.
        case tooLong(offset: Int, UInt64)
    }

    /// Reads frames.
    ///
    /// - Parameter bytes: the stream from its first byte, including the opening handshake.
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
        /// The length of the header, including the extended length and the masking key.
        package var length: Int
        package var payloadLength: UInt64

        /// Reads a header; `nil` if the extended length is incomplete. The masking key need not have arrived.
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

        /// The length of the entire frame; `nil` if the sum of the header's and the payload's lengths exceeds
        /// `Int.max`.
        package var total: Int? {
            guard payloadLength <= UInt64(Int.max - length) else { return nil }
            return length + Int(payloadLength)
        }
    }
}
