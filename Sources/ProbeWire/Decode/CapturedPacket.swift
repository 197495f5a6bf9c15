/// One packet as a capture gave it.
package struct CapturedPacket: Sendable, Equatable {
    /// Nanoseconds since 1970-01-01 UTC.
    package var time: UInt64
    /// Bytes on the wire; more than `bytes.count` when the capture cut it short.
    package var originalLength: Int
    package var bytes: [UInt8]

    package init(time: UInt64, originalLength: Int, bytes: [UInt8]) {
        self.time = time
        self.originalLength = originalLength
        self.bytes = bytes
    }
}

extension CapturedPacket {
    /// See `PacketDecoder.decode`.
    package func decoded(linkType: LinkType) throws(PacketError) -> DecodedPacket {
        try PacketDecoder.decode(bytes.span, linkType: linkType, originalLength: originalLength)
    }
}
