/// What the header of a packet says besides its sequence number.
extension HalfConnection {
    mutating func noteSYN(_ tcp: DecodedTCP, time: UInt64) {
        if tcp.flags.contains(.urg), let start = offset(of: tcp.sequence) {
            let end = start + Int64(tcp.urgentPointer)
            if urgentOffsets.last != end, urgentOffsets.count < limits.keptEvents { urgentOffsets.append(end) }
        }
        guard tcp.isSYN, synTime == nil else { return }
        noteSYN(tcp.sequence, tcp.options, time: time)
    }

    /// Where the acknowledgment of a packet from the other side lies in this stream.
    mutating func acknowledgedOffset(by tcp: DecodedTCP) -> Int64? {
        guard tcp.flags.contains(.ack) else { return nil }
        // The SYN-ACK was captured before its SYN: what it acknowledges is certain all the same.
        if base == nil, !tcp.flags.contains(.rst) {
            base = tcp.acknowledgment
            // In a capture of one direction, acknowledgments are counted from the first one.
            isBaseGuessed = !tcp.isSYN
        }
        if !tcp.isSYN, segmentCount == 0, !tcp.flags.contains(.rst) { accept(acknowledgment: tcp.acknowledgment) }
        guard let acknowledged = offset(of: tcp.acknowledgment) else { return nil }
        // What was never sent within any window cannot be acknowledged: a forged or damaged number.
        return acknowledged <= max(sentEnd, acknowledgedEnd ?? 0) + Self.largestWindow ? acknowledged : nil
    }

    /// The range that a DSACK reports (RFC 2883 4): the first block, where it lies below the acknowledgment or inside the
    /// second block.
    func duplicateRange(_ tcp: DecodedTCP, acknowledged: Int64) -> Range<Int64>? {
        guard let first = tcp.options.sack.first, let start = offset(of: first.start), let end = offset(of: first.end),
            start < end
        else { return nil }
        if end <= acknowledged { return start..<end }
        guard let second = tcp.options.sack.second, let outerStart = offset(of: second.start),
            let outerEnd = offset(of: second.end), outerStart <= start, end <= outerEnd
        else { return nil }
        return start..<end
    }

    /// Whether a packet from the other side says that something of this stream came behind a gap: it has a SACK block (RFC 2018 3) beside the
    /// range that a DSACK reports.
    func reportsGap(_ tcp: DecodedTCP, acknowledged: Int64?) -> Bool {
        guard tcp.options.sack.first != nil, let acknowledged else { return false }
        return duplicateRange(tcp, acknowledged: acknowledged) == nil || tcp.options.sack.second != nil
    }

    mutating func noteClose(_ place: Placement, acknowledged: Int64?, time: UInt64, index: Int) {
        if place.flags.contains(.fin), fin == nil, !isOutOfWindow(place) {
            fin = CloseMark(time: time, packetIndex: index, offset: place.end - 1, acknowledged: acknowledged)
        }
    }

    /// - Parameters:
    ///   - isFirst: no packet before this one says anything about its sender.
    ///   - isBaseKnown: packets before this one showed where the stream is.
    ///   - peer: the receiver.
    mutating func noteRST(
        _ place: Placement, acknowledged: Int64?, isFirst: Bool, isBaseKnown: Bool, peer: borrowing HalfConnection,
        time: UInt64, index: Int
    ) {
        var mark = CloseMark(time: time, packetIndex: index, offset: place.start, acknowledged: acknowledged)
        // A side that has sent a SYN accepts only an RST that acknowledges it (RFC 9293 3.10.7.3).
        let isAnswer = acknowledged.map { $0 >= 0 && $0 <= peer.sentEnd } ?? false
        if isFirst && peer.initialSequence != nil ? !isAnswer : isBaseKnown && !isExpected(place) {
            mark.refusal = .outsideWindow
            if refusedRST == nil { refusedRST = mark }
        } else if rst == nil {
            rst = mark
            resetWatch = ResetWatch(peerEnd: peer.base == nil || peer.isBaseGuessed ? -1 : peer.sentEnd)
        }
    }

    /// RFC 5961 3.2: an RST must have the sequence number that its receiver expects next. What has been acknowledged is received, and what
    /// has been sent may have been.
    private func isExpected(_ place: Placement) -> Bool {
        place.start <= max(sentEnd, acknowledgedEnd ?? 0) && place.start >= acknowledgedEnd ?? Int64.min
    }

    /// A packet after an RST of this side. One that both sides go on after was ignored.
    ///
    /// - Parameters:
    ///   - own: what this side sent, nil if the peer sent the packet.
    ///   - peer: what the peer sent.
    ///   - acknowledged: what the packet acknowledges.
    mutating func watchReset(own: Placement?, peer: Placement?, acknowledged: Int64?) {
        guard let rst, var watch = resetWatch else { return }
        watch.note(rst, own: own, peer: peer, acknowledged: acknowledged)
        resetWatch = watch
        guard watch.hasSenderContinued, watch.hasPeerContinued else { return }
        self.rst = nil
        resetWatch = nil
        guard refusedRST == nil else { return }
        var ignored = rst
        ignored.refusal = .ignored
        refusedRST = ignored
    }

    /// RFC 7323 2.2: windows are scaled only where both SYNs have the option, and by 14 at most. nil where that is not known.
    static func windowShift(own: SYNAbilities?, peer: SYNAbilities?) -> UInt8? {
        // One SYN without the option is enough to know that nothing is scaled.
        if let own, own.windowScale == nil { return 0 }
        if let peer, peer.windowScale == nil { return 0 }
        guard let shift = own?.windowScale, peer != nil else { return nil }
        return min(shift, 14)
    }

    mutating func finish() {
        let acknowledged = acknowledgedEnd.map { min($0, fin?.offset ?? $0) }
        // Behind a FIN's sequence number an acknowledgment is one more than the stream's length.
        stream.finish(lastOffset: fin?.offset ?? acknowledged)
    }
}
