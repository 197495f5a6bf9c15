import ProbeBase
import ProbeWire

/// Acknowledgments, retransmissions, and what they show about lost packets.
extension FlowObservation {
    func noteAcknowledgment(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, of sender: SideObservation) {
        guard let acknowledgment = packet.acknowledgment else { return }
        if !tcp.options.sack.isEmpty || !sender.sacked.isEmpty || !sender.dropped.isEmpty {
            sender.noteSelective(packet, tcp, acknowledgment)
        }
        if packet.isDuplicateAck || !tcp.options.sack.isEmpty
            || (acknowledgment > sender.acknowledged && acknowledgment < sender.repairEnd)
        {
            let delay = delay(to: packet.side.opposite)
            // At the sender, the time to the next data shows how its application works, not how long a packet travels.
            let isAway = delay * 10 >= roundTrip ?? 0
            sender.trigger.noteRequest(at: packet.time, delay: delay, latestDelay: isAway ? sender.echo.latest : 0)
        }
        if acknowledgment > sender.acknowledged {
            if !sender.repeats.isEmpty {
                sender.noteProbeAnswer(packet, acknowledgment)
                sender.noteOriginal(packet, acknowledgment)
            }
            sender.noteUnseen(acknowledgment, packet.number, at: now)
            sender.noteDelay(acknowledgment, packet)
            sender.confirmLosses()
            sender.acknowledged = acknowledgment
            sender.acknowledgedTime = packet.time
            sender.duplicateAcks = 0
            sender.hasSACKSinceAcknowledgment = false
            if let end = sender.recoveryEnd, acknowledgment >= end { sender.recoveryEnd = nil }
            if let backoff = sender.backoff, acknowledgment > backoff.position {
                if backoff.timeouts >= 2 {
                    markWaiting(.timeout, since: backoff.lastTime)
                    sender.timeoutTime += packet.time - backoff.lastTime
                    if let fin = sender.fin, backoff.position >= fin.position {
                        sender.closeTimeoutTime += packet.time - backoff.lastTime
                    }
                }
                sender.backoff = nil
            }
            if !sender.repeats.isEmpty { sender.noteFreed(acknowledgment) }
            if let small = sender.small, acknowledgment >= small.end {
                if packet.length == 0, acknowledgment == small.end {
                    sender.smallAcknowledged = (
                        packet.time, packet.number, sender.edges.last.map { $0.edge - sender.sentEnd }
                    )
                } else {
                    sender.small = nil
                }
            }
            if let fin = sender.fin, acknowledgment > fin.position, sender.finAcknowledged == nil {
                sender.finAcknowledged = .init(time: packet.time, packet: packet.number, position: acknowledgment)
            }
        } else if packet.isDuplicateAck {
            sender.duplicateAcks += 1
            if sender.duplicateAcks == 3, sender.recoveryEnd == nil { sender.recoveryEnd = sender.sentEnd }
        }
    }

    // MARK: Retransmissions

    func noteRepeat(_ packet: DiagnosedPacket, end: Int64) {
        let side = packet.side
        let hole = self[side].fillHole(packet.start..<max(end, packet.start + 1))
        let hasFilled = hole != nil
        if let hole, packet.kind != .fastRetransmission || self[side].isSentEarlier(packet) {
            // A sender can't detect the loss of a segment in less than a round trip. A packet that arrives sooner is
            // the delayed original, not a retransmission.
            let isTooEarly =
                packet.time - hole.time < delay(to: side) * 3 / 4 && !self[side].isSentLater(packet)
            if isTooEarly || self[side].isSentEarlier(packet) {
                self[side].noteReordered(packet)
                return
            }
        }
        if let hole { self[side].notePiece(packet, of: hole, segment: segmentSize(of: side)) }
        let earlier = self[side].log.resend(packet.start, length: packet.length, at: packet.time)
        let isCaptured = earlier != nil && !hasFilled
        let isProbe = packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe
        let isSpurious = packet.kind == .spuriousRetransmission
        // Data that did not reach the capture point was sent at most a round trip before the packet that followed it.
        let since =
            earlier?.lastTime
            ?? max(self[side].lastDataTime ?? packet.time, hole.map { $0.time - (roundTrip ?? 0) } ?? 0)
        let wait = packet.time - since
        let isTimeout =
            !isProbe && !isSpurious && packet.kind != .fastRetransmission
            && self[side].trigger.isTimer(
                at: packet.time, since: since, acknowledged: self[side].acknowledgedTime + delay(to: side),
                roundTrip: roundTrip ?? 0)
        if packet.kind == .fastRetransmission, self[side].recoveryEnd == nil {
            self[side].recoveryEnd = self[side].sentEnd
        }
        var timeout: SideObservation.Repeat.Timeout?
        if isTimeout || isProbe {
            timeout = noteTimeout(
                packet, from: max(since, self[side].acknowledgedTime, self[side].trigger.lastExpiry),
                isCaptured ? earlier : nil, isProbe: isProbe)
        }
        if !isSpurious, self[side].dropped.contains(where: { $0.contains(packet.start) }) {
            self[side].renegingEvidence.add(packet.number)
        }
        self[side].noteStuck(packet, end: end, earlier)
        if isProbe {
            self[side].tailCount += 1
            self[side].tailEvidence.add(packet.number)
            self[side].longestTail = max(self[side].longestTail, wait)
        }
        // A repeated FIN without data counts neither as lost nor as unnecessary, because the packets with data are
        // counted.
        if isSpurious, packet.length > 0 {
            self[side].spuriousCount += 1
            self[side].spuriousEvidence.add(packet.number)
        }
        // A tail-loss probe counts as the repair of a loss only if the peer's answer shows that the original segment
        // was lost.
        // Data that the peer has rejected with a reset was not lost.
        let isCounted = !isSpurious && !isProbe && packet.length > 0 && reset?.side != side.opposite
        if isCounted {
            self[side].noteLost(packet, isCaptured: isCaptured, isPeerClosed: peer(of: side).fin != nil)
        }
        if self[side].repeats.count == 32 { self[side].repeats.removeFirst(8) }
        self[side].repeats.append(
            .init(
                start: packet.start, end: end, time: packet.time, packet: packet.number, stamp: packet.stamp,
                payload: Int64(packet.length), isCaptured: isCaptured, isProbe: isProbe, isSpurious: isSpurious,
                isCounted: isCounted, timeout: timeout))
        if end > self[side].sentEnd {
            // The repeated data has been read, or is in a hole, after which the messages are no longer followed.
            if earlier == nil { self[side].loseMessages() }
            self[side].sentEnd = end
        }
        self[side].repairEnd = self[side].sentEnd
    }

    /// Attributes the time before a packet that was sent again to the wait for a timer.
    ///
    /// - Returns: the timeout; `nil` if it was not counted.
    private func noteTimeout(
        _ packet: DiagnosedPacket, from start: Int64, _ earlier: SentSegment?, isProbe: Bool
    ) -> SideObservation.Repeat.Timeout? {
        let side = packet.side
        let (own, peer) = (self[side], peer(of: side))
        let reassigned = budget.reassign(.timeout, from: start, until: packet.time)
        own.timeoutTime += reassigned
        guard !isProbe else { return nil }
        own.trigger.noteExpiry(at: packet.time)
        // The time may belong to a state of higher precedence, such as the close of the connection. It may also have
        // been attributed already, because the peer waited at the same time.
        guard reassigned > 0 || (phase == .open && peer.trigger.lastExpiry > start), reset?.side != side.opposite
        else { return nil }
        if packet.length == 0 { own.closeTimeoutTime += reassigned }
        own.timeoutCount += 1
        own.timeoutWaits += packet.time - start
        own.longestTimeout = max(own.longestTimeout, packet.time - start)
        if let earlier {
            own.timeoutEvidence.add(earlier.packet)
        } else {
            own.areTimeoutsCaptured = false
        }
        own.timeoutEvidence.add(packet.number)
        if let backoff = own.backoff, backoff.position == packet.start {
            own.backoff?.timeouts += 1
            own.backoff?.lastTime = packet.time
        } else {
            own.backoff = .init(position: packet.start, timeouts: 1, since: start, lastTime: packet.time)
        }
        own.longestBackoff = max(own.longestBackoff, own.backoff?.timeouts ?? 1)
        own.recoveryEnd = nil
        return .init(wait: packet.time - start, attributed: reassigned, original: earlier?.packet ?? 0)
    }
}

extension FlowObservation {
    /// Records the second copy of a packet that the capture contains twice.
    func noteCopy(_ summary: PacketSummary, _ tcp: DecodedTCP, _ time: Int64) {
        packetCount += 1
        self[summary.side].copyCount += 1
        copies.note(summary, tcp, self[summary.side].recent, at: time)
    }
}
