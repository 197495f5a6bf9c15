package import ProbeWire

/// What of a captured TCP segment tells which connection it belongs to (RFC 9293, section 3.1).
package struct SegmentHeader: Equatable {
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    var sequence: SequenceNumber
    var acknowledgment: SequenceNumber
    package var flags: TCPFlags
    /// Bytes of payload.
    var length: Int

    /// What the segment takes of its sender's sequence numbers: SYN and FIN count as one each.
    var sequenceLength: Int {
        length + (flags.contains(.syn) ? 1 : 0) + (flags.contains(.fin) ? 1 : 0)
    }
}
