extension CapturedPacket {
    /// See `PacketDecoder.decode`.
    package func decoded(linkType: LinkType) throws(PacketError) -> DecodedPacket {
        try PacketDecoder.decode(bytes.span, linkType: linkType, originalLength: originalLength)
    }
}
