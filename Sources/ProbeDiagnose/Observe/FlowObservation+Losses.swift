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
            let elapsed = self[side].outstanding
            noteUnseen(side, acknowledgment, packet.number)
            noteDelay(side, acknowledgment, packet, flight: elapsed)
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
            if let stuck = self[side].stuck, acknowledgment > stuck.position { noteFreed(side, acknowledgment) }
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

    private mutating func noteFreed(_ side: ConversationSide, _ acknowledgment: Int64) {
        guard let stuck = self[side].stuck else { return }
        // Data that was sent again in smaller packets does not show that packets of the original size arrive.
        if acknowledgment >= stuck.end, stuck.copies < 3 { self[side].stuck = nil }
    }

    /// Measures the time from a segment to its acknowledgment, unless the segment was sent more than once (Karn's
    /// algorithm).
    private mutating func noteDelay(
        _ side: ConversationSide, _ acknowledgment: Int64, _ packet: DiagnosedPacket, flight: Int64
    ) {
        while let segment = self[side].log.first, segment.end <= acknowledgment, segment.isMerged || segment.sends > 1,
            self[side].log.segments.count > 1, self[side].log.segments[1].end <= acknowledgment
        {
            _ = self[side].log.acknowledge(segment.end)
        }
        guard let segment = self[side].log.acknowledge(acknowledgment) else { return }
        if segment.sends == 1, !segment.isMerged, segment.end - segment.start > 0 {
            self[side].largestAcknowledged = max(
                self[side].largestAcknowledged, Int(segment.end - segment.start))
        }
        guard segment.sends == 1, !segment.isMerged, segment.end == acknowledgment else { return }
        let delay = packet.time - segment.lastTime
        guard delay >= 0 else { return }
        self[side].shortestDelay = min(self[side].shortestDelay ?? delay, delay)
        if segment.start > 0 { self[side].shortestDataDelay = min(self[side].shortestDataDelay ?? delay, delay) }
        self[side].delays.append(delay)
        self[side].growth.add(Double(segment.flight), Double(delay))
        if delay > self[side].slowestDelay?.delay ?? -1 { self[side].slowestDelay = (delay, packet.number) }
        self[side].rate.note(
            acknowledgment, at: packet.time, delay: delay, shortest: self[side].shortestDelay ?? delay)
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
            addHole(side, max(end, 1)..<acknowledgment, packet)
            if let last = self[side].holes.indices.last { self[side].holes[last].isAcknowledged = true }
            self[side].progress.lose()
        }
        self[side].sentEnd = acknowledgment
    }

    mutating func addHole(_ side: ConversationSide, _ range: Range<Int64>, _ packet: Int) {
        guard self[side].holes.count < 16, !range.isEmpty else { return }
        self[side].holes.append(.init(start: range.lowerBound, end: range.upperBound, packet: packet))
    }

    /// Removes the part of a hole that a packet fills. Returns whether the packet fills a hole.
    @discardableResult
    mutating func fillHole(_ side: ConversationSide, _ range: Range<Int64>, isLate: Bool, packet: Int) -> Bool {
        guard
            let index = self[side].holes.firstIndex(where: { $0.start < range.upperBound && range.lowerBound < $0.end })
        else { return false }
        let hole = self[side].holes[index]
        self[side].holes.remove(at: index)
        if hole.start < range.lowerBound {
            var left = hole
            left.end = range.lowerBound
            self[side].holes.append(left)
        }
        if range.upperBound < hole.end {
            var right = hole
            right.start = range.upperBound
            self[side].holes.append(right)
        }
        return true
    }

    // MARK: SACK

    private mutating func noteSelective(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, _ acknowledgment: Int64) {
        let side = packet.side.opposite
        guard !tcp.options.sack.isEmpty else {
            if let range = self[side].sackedRange {
                // A receiver that drops SACKed bytes stops reporting them although it does not acknowledge them
                // (RFC 2018, section 8).
                if acknowledgment >= range.upperBound { self[side].sackedRange = nil }
            }
            return
        }
        let blocks = tcp.sacks(acknowledging: acknowledgment)
        guard let first = blocks.first else { return }
        let isDuplicate =
            first.upperBound <= acknowledgment
            || blocks.dropFirst().contains { $0.lowerBound <= first.lowerBound && first.upperBound <= $0.upperBound }
        if isDuplicate { noteArrivedTwice(side, first, isProven: true, packet: packet.number) }
        for block in isDuplicate ? blocks.dropFirst() : blocks[...] where block.upperBound > acknowledgment {
            self[side].hasSACKSinceAcknowledgment = true
            if block.upperBound > self[side].sackedEnd {
                self[side].sackedEnd = block.upperBound
                self[side].sackedRange = block
            }
            if let stuck = self[side].stuck, block.lowerBound >= stuck.end,
                block.upperBound - block.lowerBound < Int64(stuck.payload)
            {
                self[side].stuck?.isPassed = true
            }
        }
    }

    /// Records that the peer received a range twice, so that the retransmission of the range was unnecessary.
    private mutating func noteArrivedTwice(
        _ side: ConversationSide, _ range: Range<Int64>, isProven: Bool, packet: Int
    ) {
        guard
            let index = self[side].repeats.lastIndex(where: {
                !$0.isSpurious && $0.start < range.upperBound && range.lowerBound < max($0.end, $0.start + 1)
            })
        else { return }
        self[side].repeats[index].isSpurious = true
        let repeated = self[side].repeats[index]
        self[side].spuriousCount += 1
        self[side].spuriousEvidence.add(repeated.packet)
        self[side].spuriousEvidence.add(packet)
        if isProven { self[side].isSpuriousProven = true }
        guard repeated.isCounted else { return }
        if repeated.isCaptured { self[side].lost.after -= 1 } else { self[side].lost.before -= 1 }
        self[side].repeats[index].isCounted = false
    }

    // MARK: Retransmissions

    private static let timeout: Int64 = 195_000_000

    mutating func noteRepeat(_ packet: DiagnosedPacket, end: Int64) {
        let side = packet.side
        let hasFilled = fillHole(side, packet.start..<max(end, packet.start + 1), isLate: true, packet: packet.number)
        let earlier = self[side].log.resend(packet.start, at: packet.time, packet: packet.number)
        let isCaptured = earlier != nil && !hasFilled
        let isProbe = packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe
        let isSpurious = packet.kind == .spuriousRetransmission
        let since = earlier?.lastTime ?? (self[side].lastDataTime ?? packet.time)
        let wait = packet.time - since
        let isRequested =
            packet.kind == .fastRetransmission || self[side].duplicateAcks >= 3
            || (self[side].hasSACKSinceAcknowledgment && self[side].recoveryEnd != nil)
        let isTimeout = !isProbe && !isRequested && !isSpurious && wait >= Self.timeout
        if packet.kind == .fastRetransmission, self[side].recoveryEnd == nil {
            self[side].recoveryEnd = self[side].sentEnd
        }
        if isTimeout || isProbe {
            noteTimeout(packet, from: max(since, self[side].acknowledgedTime), earlier, isProbe: isProbe)
        }
        if self[side].sackedRange.map({ $0.contains(packet.start) }) == true, packet.start > self[side].acknowledged,
            !isSpurious
        {
            self[side].renegingEvidence.add(packet.number)
            self[side].isRenegingProven = !self[side].hasSACKSinceAcknowledgment
        }
        noteStuck(packet, end: end, earlier)
        if isProbe {
            self[side].tailCount += 1
            self[side].tailEvidence.add(packet.number)
            self[side].longestTail = max(self[side].longestTail, wait)
        }
        if isSpurious {
            self[side].spuriousCount += 1
            self[side].spuriousEvidence.add(packet.number)
        }
        // A tail-loss probe repairs a loss only if the peer's answer shows it; the analysis then counts it.
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
                isCaptured: isCaptured, isTimeout: isTimeout, isProbe: isProbe, isSpurious: isSpurious,
                isCounted: isCounted))
        if end > self[side].sentEnd { self[side].sentEnd = end }
        if !hasFilled || packet.length > 0 { if earlier == nil { self[side].progress.lose() } }
    }

    private mutating func noteTimeout(
        _ packet: DiagnosedPacket, from start: Int64, _ earlier: SentSegment?, isProbe: Bool
    ) {
        let side = packet.side
        let claimed = budget.claim(.timeout, from: start, until: packet.time)
        self[side].timeoutTime += claimed
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

    private mutating func noteStuck(_ packet: DiagnosedPacket, end: Int64, _ earlier: SentSegment?) {
        let side = packet.side
        guard packet.length > 400, packet.start >= self[side].acknowledged else { return }
        if let stuck = self[side].stuck, stuck.position == packet.start, stuck.payload == packet.length {
            self[side].stuck?.copies += 1
            self[side].stuck?.evidence.add(packet.number)
            return
        }
        guard self[side].stuck.map({ $0.copies < 3 || $0.end <= self[side].acknowledged }) ?? true else { return }
        var evidence = Evidence()
        if let earlier { evidence.add(earlier.packet) }
        evidence.add(packet.number)
        self[side].stuck = .init(
            position: packet.start, end: end, payload: packet.length, copies: (earlier?.sends ?? 0) + 1,
            evidence: evidence, time: packet.time)
    }
}

extension FlowObservation {
    /// Records a packet that the capture contains twice.
    mutating func noteCopy(_ summary: PacketSummary, _ tcp: DecodedTCP, _ time: Int64) {
        let number = summary.packetIndex + 1
        packetCount += 1
        let original = self[summary.side].recent.original(of: tcp)
        guard let original, time - original.time > 1_000_000 else {
            copyCount += 1
            copyEvidence.add(number)
            return
        }
        lateCopyCount += 1
        lateCopyEvidence.add(original.packet)
        lateCopyEvidence.add(number)
        lateCopySide = summary.side
        if original.hopLimit != tcp.hopLimit || tcp.identification != 0 { isLateCopyProven = true }
    }
}
