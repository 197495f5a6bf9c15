/// A captured packet, which has not been decoded.
package struct CapturedPacket: Sendable, Equatable {
    /// The time in nanoseconds since 1970-01-01 UTC.
    package var time: UInt64
    /// The packet's length on the wire, which is greater than `bytes.count` if the capture cut the packet short.
    package var originalLength: Int
    package var bytes: [UInt8]

    package init(time: UInt64, originalLength: Int, bytes: [UInt8]) {
        self.time = time
        self.originalLength = originalLength
        self.bytes = bytes
    }
}

extension CapturedPacket {
    /// Decodes the packet; see `PacketDecoder.decode`.
    package func decoded(linkType: LinkType) throws(PacketError) -> DecodedPacket {
        try PacketDecoder.decode(bytes.span, linkType: linkType, originalLength: originalLength)
    }
}
