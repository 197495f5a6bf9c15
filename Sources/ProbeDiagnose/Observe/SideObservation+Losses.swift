import ProbeBase
import ProbeWire

/// Observations about the packets of one side, based on acknowledgments and retransmissions.
extension SideObservation {
    /// Returns whether a packet that looks like a retransmission is a copy of an earlier packet.
    func isCopy(_ summary: PacketSummary, _ tcp: DecodedTCP, at time: Int64) -> Bool {
        if recent.isCopy(tcp, at: time) { return true }
        // A segment that was really sent again has a later timestamp or a later IP identification than all earlier
        // segments.
        return summary.kind == .spuriousRetransmission && time - (lastDataTime ?? 0) < RecentHeaders.longestAge
            && isSentEarlier(stamp: tcp.options.timestamp?.value, identification: tcp.identification)
    }

    /// Returns whether a packet is the first one to resend data that was sent with the SYN but not accepted by the
    /// server.
    func isRejectedWithSYN(_ packet: DiagnosedPacket, isAccepted: Bool) -> Bool {
        guard let syn, syn.payloadLength > 0, !isAccepted else {
            return false
        }
        return packet.start >= 1 && packet.start <= Int64(syn.payloadLength) && sentEnd <= packet.start
    }

    /// Records a segment that was captured after segments that follow it in the stream.
    func noteLate(_ packet: DiagnosedPacket) {
        // A capture of several queues may store packets in an order that differs from their order of arrival.
        if packet.isEarlier { return }
        guard isSentLater(packet) else { return noteReordered(packet) }
        self.lost.before += 1
        self.lost.evidence.add(packet.number)
    }

    func noteZeroWindowProbe(_ packet: DiagnosedPacket) {
        zero?.isProbed = true
        self.zeroProbeCount += 1
        self.zeroWait.evidence.add(packet.number)
    }

    /// Records a SYN. A SYN that follows another one at once is a copy of it.
    func noteSYN(_ packet: DiagnosedPacket, _ tcp: DecodedTCP) {
        if synCount > 0, packet.time - lastSYNTime < 100_000_000 { return }
        synCount += 1
        synPackets.add(packet.number)
        lastSYNTime = packet.time
        guard syn == nil else { return }
        let options = tcp.options
        syn = .init(
            time: packet.time, packet: packet.number, sequence: tcp.sequence,
            maximumSegmentSize: options.maximumSegmentSize.map(Int.init), hasWindowScale: options.windowScale != nil,
            isSACKPermitted: options.isSACKPermitted,
            payloadLength: options.fastOpenCookieLength == nil ? tcp.payload.count : tcp.payloadLength,
            hasTimestamp: options.timestamp != nil, hopLimit: tcp.hopLimit)
        sentEnd = 1
    }

    /// Records an acknowledgment of bytes that the capture doesn't contain.
    func noteUnseen(_ acknowledgment: Int64, _ packet: Int, at time: Int64) {
        for index in holes.indices where holes[index].end <= acknowledgment {
            holes[index].isAcknowledged = true
        }
        let end = sentEnd
        guard acknowledgment > end, packetCount > 0 else { return }
        // The peer may have accepted the byte of a zero-window probe.
        if acknowledgment == end + 1, self.zeroProbeCount > 0 {
            sentEnd = acknowledgment
            return
        }
        // The first packets of a flow whose SYN was not captured don't show where its streams begin.
        if end > 0 || syn != nil {
            addHole(max(end, 1)..<acknowledgment, packet, at: time)
            if let last = holes.indices.last { holes[last].isAcknowledged = true }
            loseMessages()
        }
        sentEnd = acknowledgment
    }

    /// Records the SACK blocks of a packet from the peer.
    func noteSelective(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, _ acknowledgment: Int64) {
        let blocks = tcp.options.sack.isEmpty ? [] : tcp.sacks(acknowledging: acknowledgment)
        let isDuplicate =
            if let first = blocks.first {
                first.upperBound <= acknowledgment
                    || blocks.dropFirst().contains {
                        $0.lowerBound <= first.lowerBound && first.upperBound <= $0.upperBound
                    }
            } else { false }
        if isDuplicate, let first = blocks.first { noteArrivedTwice(first, packet: packet.number) }
        let reported = (isDuplicate ? blocks.dropFirst() : blocks[...]).filter { $0.upperBound > acknowledgment }
        noteProbeSACK(reported)
        noteDropped(reported, acknowledgment)
        guard !reported.isEmpty else { return }
        hasSACKSinceAcknowledgment = true
        if let stuck = self.stuck {
            for block in reported
            where block.lowerBound >= stuck.end && block.upperBound - block.lowerBound < Int64(stuck.payload) {
                self.stuck?.isPassed = true
            }
        }
    }

    /// Measures the time from an acknowledgment to the data that the sender sends in response to it. If the capture was
    /// made near the receiver, a queue on the path lengthens this part of the round trip.
    static func noteEcho(_ packet: DiagnosedPacket, _ own: SideObservation, _ peer: SideObservation) {
        if packet.length > 0, packet.kind == .new, let echo = packet.echo {
            own.echo.answer(
                echo, end: packet.start + Int64(packet.length), gap: packet.time - (own.lastDataTime ?? 0),
                at: packet.time)
        }
        guard let stamp = packet.stamp, let acknowledgment = packet.acknowledgment else { return }
        if peer.outstanding > 0 || packet.length == 0 {
            peer.echo.ask(stamp, acknowledgment: acknowledgment, at: packet.time)
        }
    }

    /// Records the window that a packet of the peer advertises.
    ///
    /// - Parameter delay: the time from the capture point to this side and back.
    func noteWindow(_ packet: DiagnosedPacket, delay: Int64) {
        guard let acknowledgment = packet.acknowledgment, !packet.flags.contains(.syn) else { return }
        let edge = WindowEdges.Edge(
            time: packet.time, edge: acknowledgment + Int64(packet.window), isZero: packet.window == 0)
        let wasFilled = edges.furthest <= sentEnd
        if edge.edge > edges.furthest { movedAt = acknowledgment }
        edges.add(edge, delay: delay)
        if packet.window > largestWindow { largestWindow = packet.window }
        windows.append((packet.time, packet.window))
        if packet.window == 0 {
            if zero == nil || zero?.openedAt != nil {
                zero = .init(time: packet.time, packet: packet.number, wasFilled: wasFilled)
            } else if zero?.isProbed == true {
                self.isZeroProbeAnswered = true
                self.zeroWait.evidence.add(packet.number)
            }
        } else if zero != nil, zero?.openedAt == nil {
            zero?.openedAt = packet.time
        }
    }

    /// Examines SACK blocks after a tail-loss probe. A block that contains the probe's data shows that the original
    /// segment was lost, because the receiver would have reported the original as soon as it arrived.
    func noteProbeSACK(_ reported: [Range<Int64>]) {
        guard let index = repeats.lastIndex(where: { $0.isProbe && !$0.isSettled && !$0.isSpurious }) else { return }
        let probe = repeats[index]
        guard reported.contains(where: { $0.lowerBound <= probe.start && probe.end <= $0.upperBound }) else { return }
        repeats[index].isSettled = true
        self.isTailProven = true
    }

    func noteFreed(_ acknowledgment: Int64) {
        guard let stuck = self.stuck, acknowledgment > stuck.position else { return }
        // Data that was sent again in smaller packets does not show that packets of the original size arrive.
        guard acknowledgment >= stuck.end, stuck.copies < 3 || !stuck.isSplit else { return }
        if !stuck.isSplit { largestAcknowledged = max(largestAcknowledged, stuck.payload) }
        self.stuck = nil
    }

    /// Examines the first acknowledgment of a tail-loss probe's data. The acknowledgment echoes the timestamp of the
    /// packet that arrived. If it echoes the probe's timestamp, the original segment was lost (RFC 7323, section 4.3).
    func noteProbeAnswer(_ packet: DiagnosedPacket, _ acknowledgment: Int64) {
        guard
            let index = repeats.lastIndex(where: {
                $0.isProbe && !$0.isSettled && $0.end <= acknowledgment && $0.end > acknowledged
            })
        else { return }
        repeats[index].isSettled = true
        if let stamp = repeats[index].stamp, packet.echo == stamp { self.isTailProven = true }
    }

    /// Examines the first acknowledgment of data that was sent again. If it echoes a timestamp from before the data was
    /// sent again, the original arrived, and sending the data again was unnecessary (RFC 3522).
    func noteOriginal(_ packet: DiagnosedPacket, _ acknowledgment: Int64) {
        guard let echo = packet.echo else { return }
        for index in repeats.indices {
            let repeated = repeats[index]
            guard let stamp = repeated.stamp, !repeated.isProbe, !repeated.isSpurious, repeated.payload > 0,
                repeated.isCaptured, repeated.start <= acknowledged, repeated.end > acknowledged,
                repeated.end <= acknowledgment, Int32(bitPattern: echo &- stamp) < 0
            else { continue }
            self.spuriousEvidence.add(repeated.packet)
            self.spuriousEvidence.add(packet.number)
            self.isSpuriousProven = true
            acquit(index)
        }
    }

    /// Counts a packet that was sent again as unnecessary instead of as the repair of a loss.
    private func acquit(_ index: Int) {
        let repeated = repeats[index]
        repeats[index].isSpurious = true
        self.spuriousCount += 1
        if let timeout = repeated.timeout { acquit(timeout, before: index) }
        self.lost.evidence.remove(repeated.packet)
        self.unconfirmedLost.evidence.remove(repeated.packet)
        guard repeats[index].isCounted else { return }
        repeats[index].isCounted = false
        if repeats[index].isCaptured {
            if self.lost.after > 0 { self.lost.after -= 1 } else { self.unconfirmedLost.after -= 1 }
        } else {
            if self.lost.before > 0 { self.lost.before -= 1 } else { self.unconfirmedLost.before -= 1 }
        }
        if self.lost.count == 0 { self.lost = LossCount() }
    }

    /// Removes a wait for the retransmission timer from the timeouts, because the data had arrived.
    private func acquit(_ timeout: Repeat.Timeout, before index: Int) {
        self.timeoutCount -= 1
        self.timeoutWaits -= timeout.wait
        self.timeoutTime -= timeout.attributed
        self.timeoutEvidence.remove(repeats[index].packet)
        if let backoff, backoff.position == repeats[index].start { self.backoff = nil }
        repeats[index].timeout = nil
        if !repeats.contains(where: { $0.timeout?.original == timeout.original }) {
            self.timeoutEvidence.remove(timeout.original)
        }
        if self.timeoutCount == 0 {
            self.timeoutEvidence = Evidence()
            (self.longestTimeout, self.longestBackoff) = (0, 0)
        } else if timeout.wait == self.longestTimeout {
            // Not all earlier timeouts are kept. The longest one is not shorter than their average.
            let known = repeats.compactMap(\.timeout?.wait).max() ?? 0
            self.longestTimeout = max(known, self.timeoutWaits / Int64(self.timeoutCount))
        }
    }

    /// Measures the time from a segment to its acknowledgment, unless the segment was sent more than once (Karn's
    /// algorithm), or the acknowledgment waited until a hole before the segment was filled.
    func noteDelay(_ acknowledgment: Int64, _ packet: DiagnosedPacket) {
        guard let segment = log.acknowledge(acknowledgment) else { return }
        // A segment that was sent again in smaller pieces does not show that packets of its size arrive.
        if segment.sends == 1 || segment.lastLength == Int(segment.end - segment.start) {
            largestAcknowledged = max(largestAcknowledged, segment.lastLength)
        }
        let hasWaited = duplicateAcks > 0 || hasSACKSinceAcknowledgment || segment.start < repairEnd
        guard segment.sends == 1, segment.end == acknowledgment, !hasWaited else { return }
        let delay = packet.time - segment.lastTime
        guard delay >= 0 else { return }
        shortestDelay = min(shortestDelay ?? delay, delay)
        if segment.start > 0 { shortestDataDelay = min(shortestDataDelay ?? delay, delay) }
        if segment.flight >= FlowObservation.queueingFlight {
            loadedDelays.append(delay)
            queueing.add(Double(segment.flight), Double(delay))
        }
        if delay > slowestDelay?.delay ?? -1 { slowestDelay = (delay, packet.number) }
        rate.note(
            acknowledgment, at: packet.time, delay: delay, shortest: shortestDelay ?? delay)
    }

    func addHole(_ range: Range<Int64>, _ packet: Int, at time: Int64) {
        guard holes.count < 16, !range.isEmpty else { return }
        holes.append(.init(start: range.lowerBound, end: range.upperBound, packet: packet, time: time))
    }

    /// Removes the part of a hole that a packet fills. Returns the hole as it was before; `nil` if the packet fills no
    /// part of any hole.
    @discardableResult
    func fillHole(_ range: Range<Int64>) -> SideObservation.Hole? {
        guard
            let index = holes.firstIndex(where: { $0.start < range.upperBound && range.lowerBound < $0.end })
        else { return nil }
        let hole = holes[index]
        holes.remove(at: index)
        if hole.start < range.lowerBound {
            var left = hole
            left.end = range.lowerBound
            holes.append(left)
        }
        if range.upperBound < hole.end {
            var right = hole
            right.start = range.upperBound
            holes.append(right)
        }
        return hole
    }

    /// Records a segment that fills a hole, or a part of it. If the path drops large packets, a sender repeats the data
    /// of a large packet in smaller packets.
    func notePiece(_ packet: DiagnosedPacket, of hole: Hole, segment: Int64) {
        if let pieces, packet.start < pieces.end {
            self.pieces?.evidence.add(packet.number)
            if packet.length == pieces.payload { self.pieces?.count += 1 }
            return
        }
        let wait = packet.time - hole.time
        guard pieces == nil, wait >= RepeatTrigger.shortestTimeout, packet.start == hole.start,
            hole.end - hole.start >= segment, packet.length > 0, Int64(packet.length) <= segment / 4 * 3
        else { return }
        pieces = .init(
            end: hole.end, missing: hole.end - hole.start, segment: segment, payload: packet.length, wait: wait,
            evidence: Evidence(hole.packet, packet.number))
    }

    /// Records a segment that was overtaken by segments that were sent after it.
    func noteReordered(_ packet: DiagnosedPacket) {
        self.reorderedCount += 1
        self.reorderedEvidence.add(packet.number)
        if isSentEarlier(packet) { self.isReorderingProven = true }
    }

    /// Returns whether the IP identification or the timestamp shows that a segment was sent before the most recent new
    /// segment.
    func isSentEarlier(_ packet: DiagnosedPacket) -> Bool {
        isSentEarlier(stamp: packet.stamp, identification: packet.identification)
    }

    /// Returns whether the IP identification or the timestamp shows that a segment was sent after the last new one.
    func isSentLater(_ packet: DiagnosedPacket) -> Bool {
        if let stamp = packet.stamp, let lastStamp, stamp != lastStamp {
            return Int32(bitPattern: stamp &- lastStamp) > 0
        }
        guard packet.identification != 0, lastIdentification != 0 else { return false }
        return 1...2048 ~= Int(Int16(truncatingIfNeeded: Int(packet.identification) - Int(lastIdentification)))
    }

    func isSentEarlier(stamp: UInt32?, identification: UInt16) -> Bool {
        if let stamp, let lastStamp, stamp != lastStamp { return Int32(bitPattern: stamp &- lastStamp) < 0 }
        guard identification != 0, lastIdentification != 0 else { return false }
        return -2048..<0 ~= Int(Int16(truncatingIfNeeded: Int(identification) - Int(lastIdentification)))
    }

    /// Finds ranges that the peer reported as received but no longer reports, although it has not acknowledged them.
    /// The peer has discarded these ranges (RFC 2018, section 8).
    func noteDropped(_ reported: [Range<Int64>], _ acknowledgment: Int64) {
        guard !sacked.isEmpty || !reported.isEmpty, acknowledgment >= acknowledged else { return }
        // A TCP header with a timestamp has room for only three SACK blocks, so older blocks may be omitted.
        if reported.count < 3 {
            for range in sacked where range.upperBound > acknowledgment {
                // SACK blocks only grow, so any part of an old block that is missing from the new blocks has been
                // discarded by the peer.
                let kept = reported.filter { $0.overlaps(range) }
                let start = max(range.lowerBound, acknowledgment)
                let end = kept.map(\.lowerBound).min() ?? range.upperBound
                if start < end, dropped.count < 4 { dropped.append(start..<end) }
            }
        }
        dropped.removeAll { range in
            range.upperBound <= acknowledgment || reported.contains { $0.overlaps(range) }
        }
        sacked = reported
    }

    /// Records that the peer received a range twice, so that the retransmission of the range was unnecessary.
    func noteArrivedTwice(_ range: Range<Int64>, packet: Int) {
        if range.lowerBound <= 0 { repeatedSYNs.add(packet) }
        guard
            let index = repeats.lastIndex(where: {
                !$0.isReported && $0.start < range.upperBound && range.lowerBound < max($0.end, $0.start + 1)
            })
        else { return }
        let repeated = repeats[index]
        // A sender may combine data differently when it sends it again, so a part of a packet may have been necessary.
        let common = min(range.upperBound, repeated.start + repeated.payload) - max(range.lowerBound, repeated.start)
        guard repeated.payload > 0, common * 2 >= repeated.payload else { return }
        repeats[index].isReported = true
        self.spuriousEvidence.add(repeated.packet)
        self.spuriousEvidence.add(packet)
        self.isSpuriousProven = true
        guard !repeated.isSpurious else { return }
        acquit(index)
    }

    /// Counts a packet that was sent again as lost.
    ///
    /// - Parameter isPeerClosed: whether the peer has closed the connection. It may no longer answer, so the loss counts
    ///   only once the peer has acknowledged more data.
    func noteLost(_ packet: DiagnosedPacket, isCaptured: Bool, isPeerClosed: Bool) {
        var count = isPeerClosed ? self.unconfirmedLost : self.lost
        if isCaptured { count.after += 1 } else { count.before += 1 }
        count.evidence.add(packet.number)
        if isCaptured, hasSACKSinceAcknowledgment { count.isProven = true }
        if isPeerClosed { self.unconfirmedLost = count } else { self.lost = count }
    }

    /// Counts the losses after the peer's close, because the peer has acknowledged more data.
    func confirmLosses() {
        guard self.unconfirmedLost.count > 0 else { return }
        self.lost.after += self.unconfirmedLost.after
        self.lost.before += self.unconfirmedLost.before
        self.lost.evidence.add(self.unconfirmedLost.evidence)
        if self.unconfirmedLost.isProven { self.lost.isProven = true }
        self.unconfirmedLost = LossCount()
    }

    func noteStuck(_ packet: DiagnosedPacket, end: Int64, _ earlier: SentSegment?) {
        if let stuck = self.stuck, stuck.position..<stuck.end ~= packet.start, 1..<stuck.payload ~= packet.length {
            self.stuck?.isSplit = true
        }
        guard packet.length > 400, packet.start >= acknowledged else { return }
        if let stuck = self.stuck, stuck.position == packet.start, stuck.payload == packet.length {
            self.stuck?.copies += 1
            self.stuck?.evidence.add(packet.number)
            return
        }
        guard self.stuck.map({ $0.copies < 3 || $0.payload <= largestAcknowledged }) ?? true else { return }
        var evidence = Evidence()
        if let earlier { evidence.add(earlier.packet) }
        evidence.add(packet.number)
        self.stuck = .init(
            position: packet.start, end: end, payload: packet.length,
            copies: earlier.map { $0.start == packet.start && $0.lastLength == packet.length } == true
                ? (earlier?.sends ?? 0) + 1 : 1,
            evidence: evidence, time: earlier?.time ?? packet.time,
            isPassed: sacked.contains { $0.lowerBound >= end && $0.upperBound - $0.lowerBound < Int64(packet.length) })
    }
}

/// Observations about the way in which a side's application sends data.
extension SideObservation {
    /// Records a segment, which may be small enough to be affected by Nagle's algorithm or by a window that opens in
    /// small steps.
    func noteSmall(_ packet: DiagnosedPacket, end: Int64, segment size: Int64) {
        if let small, small.end > acknowledged, small.length * 2 < size, Int64(packet.length) * 2 < size,
            !packet.flags.contains(.fin)
        {
            unheldCount += 1
        }
        small =
            Int64(packet.length) < size ? (packet.time, end, packet.number, Int64(packet.length)) : nil
        smallAcknowledged = nil
        let fills = edges.last.map { $0.edge == end } ?? false
        if fills, Int64(packet.length) < size / 4, !isRoomUnknown {
            self.sillyCount += 1
            self.sillyEvidence.add(packet.number)
        }
    }

    /// Counts a transmission of data to which the peer has not yet responded.
    func noteUnanswered(_ packet: DiagnosedPacket, isRepeat: Bool) {
        unanswered.noteSend(packet, newData: isRepeat ? sentEnd : packet.start, isRepeat: isRepeat)
    }

    /// Counts a keep-alive to which the peer has not yet responded.
    func noteUnansweredKeepAlive(_ packet: DiagnosedPacket) {
        unansweredKeepAlives.add(packet)
    }

    /// Called if bytes of the stream are missing, so that the boundaries of messages are no longer known.
    func loseMessages() {
        progress.lose()
        drip = nil
    }

    /// Follows the messages in the side's data, and measures for how long a message is incomplete.
    func readMessage(_ packet: DiagnosedPacket, _ payload: Span<UInt8>) {
        progress.read(payload, from: packet.side, packet: packet.number)
        let isIncomplete = progress.isIncomplete || progress.kind == .undecided
        if drip != nil {
            drip?.segments += 1
            drip?.bytes += packet.length
            drip?.last = packet.time
            drip?.lastPacket = packet.number
        } else if isIncomplete {
            drip = .init(
                since: packet.time, last: packet.time, firstPacket: packet.number, lastPacket: packet.number,
                bytes: packet.length)
        }
        guard !isIncomplete, let drip else { return }
        if drip.isSlow, self.worstDrip == nil { self.worstDrip = drip }
        self.drip = nil
    }

    /// Records how long the side took to send data after it received data from its peer.
    ///
    /// - Parameters:
    ///   - request: the packet with the peer's data.
    ///   - isAcknowledged: whether the side had acknowledged the data before it answered.
    ///   - isFramed: whether the data is known to answer a request.
    func noteAnswer(
        _ packet: DiagnosedPacket, after wait: Int64, to request: Int, isAcknowledged: Bool, isFramed: Bool
    ) {
        if packet.side == .server { answers.append(wait) }
        if wait > slowestAnswer?.wait ?? -1 { slowestAnswer = (wait, request, packet.number) }
        if wait >= 500_000_000 {
            if !isAcknowledged { isAnswerAcknowledged = false }
            if !isFramed { isAnswerFramed = false }
        }
        guard 500_000_000...10_000_000_000 ~= wait else { return }
        self.pauseCount += 1
        self.pauseTime += wait
        self.pauseEvidence.add(packet.number)
    }
}
