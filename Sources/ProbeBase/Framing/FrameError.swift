/// The reason why a stream can't be divided into frames after a certain byte.
package struct FrameError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The payload has more bytes than the limit allows. The length is known only if the frame announces it.
        case tooLong(limit: Int, length: UInt64?)
        /// The announced length is larger than any stream can be.
        case lengthOutOfRange(UInt64)
        /// A varint has more than 10 bytes, or represents more than 64 bits.
        case varintTooLong
        /// The frame is not a valid netstring.
        case netstring(LengthPrefix.NetstringFailure)
    }

    package let kind: Kind
    /// The offset of the frame's first byte, from the start of the stream.
    package let offset: Int

    package init(_ kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    package var description: String {
        switch kind {
        case .tooLong(let limit, nil): "more than \(limit) bytes without a terminator, starting at byte \(offset)"
        case .tooLong(let limit, let length?):
            "a length of \(length) bytes at byte \(offset), which exceeds the limit of \(limit)"
        case .lengthOutOfRange(let length): "an impossible length of \(length) bytes at byte \(offset)"
        case .netstring(let failure): "\(failure), at byte \(offset)"
        case .varintTooLong: "a varint of more than 64 bits at byte \(offset)"
        }
    }
}
