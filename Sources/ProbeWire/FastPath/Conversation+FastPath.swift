import ProbeBase

extension Conversation {
    /// Adds an ordinary packet exactly as `add` would. A packet is ordinary if it is at the end of its sender's stream,
    /// nothing before it is missing, it carries data or acknowledges new data, and both windows are open. Returns
    /// `false` and changes nothing for any other packet.
    @inline(__always)
    mutating func takeOnFastPath(
        _ segment: FastPathSegment, from side: ConversationSide, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> Bool {
        // The acknowledgment that completes a handshake is left to `add`.
        guard !isHandshakeOpen else { return false }
        let isTaken =
            side == .client
            ? Self.exchangeOnFastPath(
                segment, payload, from: &fromClient, to: &fromServer, negotiated.clientShift, time, index)
            : Self.exchangeOnFastPath(
                segment, payload, from: &fromServer, to: &fromClient, negotiated.serverShift, time, index)
        if isTaken { noteTime(time) }
        return isTaken
    }

    @inline(__always)
    private static func exchangeOnFastPath(
        _ segment: FastPathSegment, _ payload: Span<UInt8>, from sender: inout HalfConnection,
        to receiver: inout HalfConnection,
        _ shift: UInt8?, _ time: UInt64, _ index: Int
    ) -> Bool {
        guard let base = sender.base, let peerBase = receiver.base,
            sender.conditions.union(receiver.conditions).isEmpty,
            segment.sequence == base + Int(truncatingIfNeeded: sender.sentEnd), segment.window != 0,
            sender.window.isOpen
        else { return false }
        let ahead = segment.acknowledgment - (peerBase + Int(truncatingIfNeeded: receiver.sentEnd))
        guard ahead <= 0 else { return false }
        let acknowledged = receiver.sentEnd + Int64(ahead)
        if payload.count == 0 {
            // An acknowledgment that repeats the previous acknowledgment is a duplicate or a window update; an older
            // acknowledgment may be a copy.
            guard acknowledged > receiver.acknowledged else { return false }
        } else {
            guard sender.stream.end == sender.sentEnd, !sender.stream.hasWaiting, !receiver.window.isShut else {
                return false
            }
            sender.takeInOrder(payload, stamp: segment.stamp, time: time, index: index)
        }
        sender.packetCount += 1
        receiver.noteNewAcknowledgment(acknowledged, time: time)
        sender.window.noteOpen(Int(segment.window) << Int(shift ?? 0), isScaleKnown: shift != nil)
        return true
    }
}

extension HalfConnection {
    /// Adds new, in-order data that was captured completely, as `take` would.
    @inline(__always)
    mutating func takeInOrder(_ payload: Span<UInt8>, stamp: UInt32?, time: UInt64, index: Int) {
        let start = sentEnd
        payloadLength += Int64(payload.count)
        stream.append(payload)
        segmentCount += 1
        largestSegment = max(largestSegment, payload.count)
        if segmentCount <= limits.keptSegments {
            segments.append(
                DataSegment(
                    time: time, packetIndex: index, offset: start, length: payload.count, isCut: false, kind: .new))
        }
        tailStart = start
        tailStamp = stamp
        tailTime = max(tailTime, time)
        sentEnd = start + Int64(payload.count)
        hasProbedTail = false
    }
}

extension ConversationTable {
    /// Adds a packet if `Conversation.takeOnFastPath` accepts it. Returns `false` and changes nothing for any other
    /// packet.
    // Never inlined, because the caller would become so large that the compiler would no longer inline the other
    // functions that are called for each packet.
    @inline(never)
    mutating func takeOnFastPath(_ segment: FastPathSegment, payload: Span<UInt8>, time: UInt64, index: Int) -> Bool {
        var side: ConversationSide?
        let position = latest.position(of: hash(segment.source, segment.destination)) {
            side = conversations.sender(segment.source, segment.destination, at: $0)
            return side != nil
        }
        guard let position, let side, superseded.isEmpty || !superseded.contains(position) else { return false }
        // A packet that exceeds the memory limit is left to `add`, because it must be reported.
        guard heldBytes + payload.count <= limits.totalBytes else { return false }
        let before = limits.keptBytes == 0 ? 0 : conversations.heldBytes(at: position)
        guard conversations[position].takeOnFastPath(segment, from: side, payload: payload, time: time, index: index)
        else {
            return false
        }
        packetCount += 1
        if screen != nil { noteInScreen(segment, payload, from: side, of: position, time: time) }
        if limits.keptBytes > 0 {
            heldBytes += conversations.heldBytes(at: position) - before
            peakHeldBytes = max(peakHeldBytes, heldBytes)
        }
        return true
    }

    @inline(__always)
    private mutating func noteInScreen(
        _ segment: FastPathSegment, _ payload: Span<UInt8>, from side: ConversationSide, of position: Int, time: UInt64
    ) {
        let packet = conversations.withConversation(at: position) {
            side == .client
                ? FlowScreen.Packet(segment, time: time, from: $0.fromClient, to: $0.fromServer)
                : FlowScreen.Packet(segment, time: time, from: $0.fromServer, to: $0.fromClient)
        }
        let isStart = packet.length > 0 && packet.sentEnd == Int64(packet.length)
        screen?.note(packet, of: position, from: side, firstByte: isStart ? payload[0] : nil)
    }
}
