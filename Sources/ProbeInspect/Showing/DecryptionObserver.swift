package import ProbeBase
package import ProbeWire

/// Shows the unencrypted data that a connection transfers before TLS begins, followed by its TLS data, as decrypted by
/// another program.
///
/// Each direction buffers only the few bytes that may be the beginning of the first TLS record.
package final class DecryptionObserver: InspectionObserver {
    private let shown: FollowObserver
    private var client = Direction()
    private var server = Direction()
    /// The conversation in its latest observed state; `nil` until a packet has been observed.
    package private(set) var conversation: Conversation?
    /// The number of the connection's first packet, counting from 0.
    package private(set) var firstPacket: Int?

    private struct Direction {
        /// Bytes that are either unencrypted data or the beginning of a TLS record.
        var undecided: [UInt8] = []
        var isEncrypted = false
        /// The number of bytes shown so far.
        var offset: Int64 = 0
    }

    package init(showing shown: FollowObserver) { self.shown = shown }

    /// Whether either direction has begun TLS.
    package var hasTLS: Bool { client.isEncrypted || server.isEncrypted }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        if firstPacket == nil { firstPacket = packet.summary.packetIndex }
        self.conversation = conversation
        shown.observe(packet, payload: payload, in: conversation)
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        var direction = self[side]
        defer { self[side] = direction }
        if direction.isEncrypted { return }
        switch part.content {
        case .gap:
            show(&direction, direction.undecided.count, from: side, in: conversation)
            shown.observe(part, from: side, in: conversation)
            direction.offset = part.offset
            if case .gap(let gap) = part.content { direction.offset = gap.end }
        case .bytes(let bytes):
            direction.undecided += bytes
            let plain = TLSRecords.plainText(in: direction.undecided.span)
            show(&direction, plain.length, from: side, in: conversation)
            direction.isEncrypted = plain.isFollowedByRecord
            if direction.isEncrypted { direction = Direction(isEncrypted: true) }
        }
    }

    private func show(
        _ direction: inout Direction, _ length: Int, from side: ConversationSide, in conversation: Conversation
    ) {
        guard length > 0 else { return }
        let bytes = Array(direction.undecided.prefix(length))
        shown.observe(StreamPart(offset: direction.offset, .bytes(bytes)), from: side, in: conversation)
        direction.undecided.removeFirst(length)
        direction.offset += Int64(length)
    }

    package func end(of conversation: Conversation) {
        for side in ConversationSide.allCases where !self[side].isEncrypted {
            show(&self[side], self[side].undecided.count, from: side, in: conversation)
        }
        shown.end(of: conversation)
    }

    private subscript(side: ConversationSide) -> Direction {
        get { side == .client ? client : server }
        set { if side == .client { client = newValue } else { server = newValue } }
    }

    // MARK: What was encrypted

    /// Shows decrypted bytes. Must be called in the order in which the bytes were transferred. Offsets count the bytes
    /// that have been shown.
    package func show(decrypted bytes: [UInt8], from side: ConversationSide) {
        guard let conversation, !bytes.isEmpty else { return }
        shown.observe(StreamPart(offset: self[side].offset, .bytes(bytes)), from: side, in: conversation)
        self[side].offset += Int64(bytes.count)
    }

    package func endDecrypted() {
        if let conversation { shown.end(of: conversation) }
    }
}
