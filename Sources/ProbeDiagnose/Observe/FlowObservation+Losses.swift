import ProbeBase
import ProbeWire

/// Acknowledgments, retransmissions, and what they show about lost packets.
extension FlowObservation {
    mutating func noteAcknowledgment(_ packet: DiagnosedPacket, _ tcp: DecodedTCP) {
        guard let acknowledgment = packet.acknowledgment else { return }
        let side = packet.side.opposite
        noteSelective(packet, tcp, acknowledgment)
        let before = self[side].acknowledged
        if acknowledgment > before {
            self[side].noteProbeAnswer(packet, acknowledgment)
            let elapsed = self[side].outstanding
            noteUnseen(side, acknowledgment, packet.number)
            self[side].noteDelay(acknowledgment, packet, flight: elapsed)
            self[side].acknowledged = acknowledgment
            self[side].acknowledgedTime = packet.time
            self[side].duplicateAcks = 0
            self[side].hasSACKSinceAcknowledgment = false
            if let end = self[side].recoveryEnd, acknowledgment >= end { self[side].recoveryEnd = nil }
            if let backoff = self[side].backoff, acknowledgment > backoff.position {
                if backoff.timeouts >= 2 {
                    markWaiting(.timeout, since: backoff.lastTime)
                    self[side].timeoutTime += packet.time - backoff.lastTime
                }
                self[side].backoff = nil
            }
            if let stuck = self[side].stuck, acknowledgment > stuck.position { self[side].noteFreed(acknowledgment) }
            if let small = self[side].small, acknowledgment >= small.end {
                if packet.length == 0, acknowledgment == small.end {
                    self[side].smallAcknowledged = (packet.time, packet.number)
                } else {
                    self[side].small = nil
                }
            }
            if let fin = self[side].fin, acknowledgment > fin.position, self[side].finAcknowledged == nil {
                self[side].finAcknowledged = .init(
                    time: packet.time, packet: packet.number, position: acknowledgment)
            }
        } else if packet.isDuplicateAck {
            self[side].duplicateAcks += 1
            if self[side].duplicateAcks == 3, self[side].recoveryEnd == nil {
                self[side].recoveryEnd = self[side].sentEnd
            }
        }
    }

    /// Records an acknowledgment of bytes that the capture doesn't contain.
    private mutating func noteUnseen(_ side: ConversationSide, _ acknowledgment: Int64, _ packet: Int) {
        for index in self[side].holes.indices where self[side].holes[index].end <= acknowledgment {
            self[side].holes[index].isAcknowledged = true
        }
        let end = self[side].sentEnd
        guard acknowledgment > end, self[side].packetCount > 0 else { return }
        // The peer may have accepted the byte of a zero-window probe.
        if acknowledgment == end + 1, self[side].zeroProbeCount > 0 {
            self[side].sentEnd = acknowledgment
            return
        }
        // The first packets of a flow whose SYN was not captured don't show where its streams begin.
        if end > 0 || self[side].syn != nil {
            self[side].addHole(max(end, 1)..<acknowledgment, packet, at: now)
            if let last = self[side].holes.indices.last { self[side].holes[last].isAcknowledged = true }
            self[side].loseMessages()
        }
        self[side].sentEnd = acknowledgment
    }

    /// Measures the time from an acknowledgment to the data that the sender sends in response to it. If the capture was
    /// made near the receiver, a queue on the path lengthens this part of the round trip.
    mutating func noteEcho(_ packet: DiagnosedPacket) {
        let side = packet.side
        if packet.length > 0, packet.kind == .new, let echo = packet.echo {
            self[side].echo.answer(
                echo, end: packet.start + Int64(packet.length), gap: packet.time - (self[side].lastDataTime ?? 0),
                at: packet.time)
        }
        guard let stamp = packet.stamp, let acknowledgment = packet.acknowledgment else { return }
        let peer = side.opposite
        if self[peer].outstanding > 0 || packet.length == 0 {
            self[peer].echo.ask(stamp, acknowledgment: acknowledgment, at: packet.time)
        }
    }

    private mutating func noteSelective(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, _ acknowledgment: Int64) {
        let side = packet.side.opposite
        let blocks = tcp.options.sack.isEmpty ? [] : tcp.sacks(acknowledging: acknowledgment)
        let isDuplicate =
            if let first = blocks.first {
                first.upperBound <= acknowledgment
                    || blocks.dropFirst().contains {
                        $0.lowerBound <= first.lowerBound && first.upperBound <= $0.upperBound
                    }
            } else { false }
        if isDuplicate, let first = blocks.first {
            self[side].noteArrivedTwice(first, packet: packet.number)
        }
        let reported = (isDuplicate ? blocks.dropFirst() : blocks[...]).filter { $0.upperBound > acknowledgment }
        self[side].noteProbeSACK(reported)
        self[side].noteDropped(reported, acknowledgment)
        guard !reported.isEmpty else { return }
        self[side].hasSACKSinceAcknowledgment = true
        if let stuck = self[side].stuck {
            for block in reported
            where block.lowerBound >= stuck.end && block.upperBound - block.lowerBound < Int64(stuck.payload) {
                self[side].stuck?.isPassed = true
            }
        }
    }

    // MARK: Retransmissions

    private static let timeout: Int64 = 195_000_000

    mutating func noteRepeat(_ packet: DiagnosedPacket, end: Int64) {
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
        let earlier = self[side].log.resend(packet.start, length: packet.length, at: packet.time)
        let isCaptured = earlier != nil && !hasFilled
        let isProbe = packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe
        let isSpurious = packet.kind == .spuriousRetransmission
        let since = earlier?.lastTime ?? (self[side].lastDataTime ?? packet.time)
        let wait = packet.time - since
        let isRequested =
            packet.kind == .fastRetransmission || self[side].duplicateAcks >= 3
            || (self[side].hasSACKSinceAcknowledgment && self[side].recoveryEnd != nil)
        // If a segment has already been sent again, only the timer makes the sender send it once more.
        let isBackoff = (earlier?.sends ?? 1) >= 2
        let isTimeout = !isProbe && (!isRequested || isBackoff) && !isSpurious && wait >= Self.timeout
        if packet.kind == .fastRetransmission, self[side].recoveryEnd == nil {
            self[side].recoveryEnd = self[side].sentEnd
        }
        if isTimeout || isProbe {
            noteTimeout(packet, from: max(since, self[side].acknowledgedTime), earlier, isProbe: isProbe)
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
        if isSpurious {
            self[side].spuriousCount += 1
            self[side].spuriousEvidence.add(packet.number)
        }
        // A tail-loss probe counts as the repair of a loss only if the peer's answer shows that the original segment
        // was lost.
        let isCounted = !isSpurious && packet.kind != .tailLossProbe && packet.kind != .retransmissionOrProbe
        if isCounted {
            if isCaptured { self[side].lost.after += 1 } else { self[side].lost.before += 1 }
            self[side].lost.evidence.add(packet.number)
            if isCaptured, self[side].hasSACKSinceAcknowledgment { self[side].lost.isProven = true }
        }
        if self[side].repeats.count == 32 { self[side].repeats.removeFirst(8) }
        self[side].repeats.append(
            .init(
                start: packet.start, end: end, time: packet.time, packet: packet.number, stamp: packet.stamp,
                isCaptured: isCaptured, isProbe: isProbe, isSpurious: isSpurious,
                isCounted: isCounted))
        if end > self[side].sentEnd { self[side].sentEnd = end }
        if !hasFilled || packet.length > 0 { if earlier == nil { self[side].loseMessages() } }
    }

    private mutating func noteTimeout(
        _ packet: DiagnosedPacket, from start: Int64, _ earlier: SentSegment?, isProbe: Bool
    ) {
        let side = packet.side
        let reassigned = budget.reassign(.timeout, from: start, until: packet.time)
        self[side].timeoutTime += reassigned
        guard !isProbe else { return }
        self[side].timeoutCount += 1
        self[side].longestTimeout = max(self[side].longestTimeout, packet.time - start)
        if let earlier {
            self[side].timeoutEvidence.add(earlier.packet)
            self[side].isTimeoutCaptured = true
        }
        self[side].timeoutEvidence.add(packet.number)
        if let backoff = self[side].backoff, backoff.position == packet.start {
            self[side].backoff?.timeouts += 1
            self[side].backoff?.lastTime = packet.time
        } else {
            self[side].backoff = .init(position: packet.start, timeouts: 1, lastTime: packet.time)
        }
        self[side].longestBackoff = max(self[side].longestBackoff, self[side].backoff?.timeouts ?? 1)
        self[side].recoveryEnd = nil
    }
}

extension FlowObservation {
    /// Records the second copy of a packet that the capture contains twice.
    mutating func noteCopy(_ summary: PacketSummary, _ tcp: DecodedTCP, _ time: Int64) {
        packetCount += 1
        copies.note(summary, tcp, original: self[summary.side].recent.original(of: tcp), at: time)
    }
}
