extension HalfConnection {
    /// Takes the sequence space of one packet: the payload goes into the stream and the packet into the lists.
    mutating func take(
        _ tcp: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int, isPeerWindowShut: Bool, isSACKInUse: Bool
    ) -> Taken {
        packetCount += 1
        payloadLength += Int64(tcp.payloadLength)
        var hasRestarted = false
        let isSYN = tcp.isSYN
        let first = isSYN ? tcp.sequence + 1 : tcp.sequence
        if base == nil {
            base = first
            isBaseGuessed = tcp.flags.contains(.rst)
        } else if isBaseGuessed, !tcp.flags.contains(.rst) {
            // What its own packets say counts, and not an RST, or what the other side acknowledges.
            restart(at: first)
            hasRestarted = true
        } else if isSYN, base != first {
            if initialSequence == nil, segmentCount == 0 {
                // What came before the SYN (an acknowledgment in a split handshake, a forged FIN) does not say where the stream begins.
                restart(at: first)
                hasRestarted = true
            } else if let kind = otherSYN(tcp, time: time) {
                let place = Placement(
                    start: -1, payloadStart: 0, payloadLength: tcp.payloadLength, end: 0, flags: tcp.flags)
                return Taken(kind: kind, place: place, hasConflict: false, stamp: tcp.options.timestamp?.value)
            }
        }
        let start = offset(of: tcp.sequence) ?? 0
        let payloadStart = isSYN ? start + 1 : start
        let payloadEnd = payloadStart + Int64(tcp.payloadLength)
        let place = Placement(
            start: start, payloadStart: payloadStart, payloadLength: tcp.payloadLength,
            end: payloadEnd + (tcp.flags.contains(.fin) ? 1 : 0), flags: tcp.flags
        )
        var taken = Taken(
            kind: .control, place: place, hasConflict: false, stamp: tcp.options.timestamp?.value)
        taken.hasRestarted = hasRestarted
        if isOutOfWindow(place) {
            taken.kind = tcp.flags.contains(.rst) ? .control : .outOfWindow
        } else if tcp.flags.contains(.rst) {
            insertResetText(payload, place: place, time: time, index: index, into: &taken)
        } else if let kind = probeKind(place, isPeerWindowShut: isPeerWindowShut) {
            taken.kind = kind
            if kind != .control { keepRepeat(taken, time: time, index: index) }
        } else if isZeroWindowData(place, isPeerWindowShut: isPeerWindowShut) {
            taken.kind = .zeroWindowProbe
            taken.hasConflict = stream.insert(payload, at: payloadStart, wireLength: place.payloadLength).hasConflict
            keepRepeat(taken, time: time, index: index)
        } else {
            insert(payload, isSACKInUse: isSACKInUse, time: time, index: index, into: &taken)
        }
        return taken
    }

    struct Taken {
        var kind: SegmentKind
        var place: Placement
        var hasConflict: Bool
        /// The packet's timestamp (RFC 7323 3).
        var stamp: UInt32?
        /// It began the stream anew.
        var hasRestarted = false
    }

    private static let mostOtherSYNs = 16

    /// A SYN with another sequence number than the first one: the peer may accept it as long as it has accepted none. Nil if nothing is known
    /// that it differs from.
    private mutating func otherSYN(_ tcp: DecodedTCP, time: UInt64) -> SegmentKind? {
        guard let initialSequence, initialSequence != tcp.sequence else { return nil }
        guard segmentCount == 0, fin == nil, (acknowledgedEnd ?? -1) < 0 else { return .outOfWindow }
        noteRepeatedSYN()
        if otherSYNs.contains(where: { $0.sequence == tcp.sequence }) {
            retransmissionCount += 1
            return .retransmission
        }
        guard otherSYNs.count < Self.mostOtherSYNs else { return .outOfWindow }
        otherSYNs.append(OtherSYN(sequence: tcp.sequence, options: tcp.options, time: time))
        return .new
    }

    private mutating func insert(
        _ payload: Span<UInt8>, isSACKInUse: Bool, time: UInt64, index: Int, into taken: inout Taken
    ) {
        let place = taken.place
        let isFirstSYN = place.flags.contains(.syn) && synTime == nil
        var addition = StreamAssembler.Addition()
        if place.payloadLength > 0 {
            addition = stream.insert(
                payload, at: place.payloadStart, wireLength: place.payloadLength, received: receivedEnd)
            taken.hasConflict = addition.hasConflict
        }
        let isCut = payload.count < place.payloadLength
        if place.end > sentEnd || isFirstSYN {
            // A part of it was sent before: it was put together anew from what is repeated and what is new.
            let isPartlyRepeated = place.payloadLength > 0 && place.payloadStart < sentEnd
            taken.kind =
                isPartlyRepeated
                ? (RepeatRules.isFast(place, in: self, at: time) ? .fastRetransmission : .retransmission) : .new
            if isPartlyRepeated {
                retransmissionCount += 1
                noteRecovery(place)
            }
            // What it repeats is not counted, but for the byte of a zero-window probe; a hole that it fills is.
            var from = max(place.payloadStart, sentEnd)
            if addition.newLength > 0 { from = min(from, addition.newOffset) }
            let length = Int(place.payloadStart + Int64(place.payloadLength) - from)
            if length > 0 {
                keep(
                    DataSegment(
                        time: time, packetIndex: index, offset: from, length: length, isCut: isCut, kind: taken.kind))
            }
            if place.end > sentEnd {
                tailStart = max(place.start, sentEnd)
                tailStamp = taken.stamp
            }
            tailTime = max(tailTime, time)
            sentEnd = max(sentEnd, place.end)
            hasProbedTail = false
        } else if addition.newLength > 0 {
            taken.kind = RepeatRules.lateKind(place, in: self, at: time)
            keep(
                DataSegment(
                    time: time, packetIndex: index, offset: addition.newOffset,
                    length: Int(addition.newEnd - addition.newOffset),
                    isCut: isCut, kind: taken.kind))
            if taken.kind.isRetransmission {
                retransmissionCount += 1
                hasProbedTail = true
                noteRecovery(place)
            }
        } else {
            taken.kind = RepeatRules.repeatKind(place, in: self, at: time, isSACKInUse: isSACKInUse)
            keepRepeat(taken, time: time, index: index)
        }
    }

    /// The peer has received all before it, the capture's gaps as well; what was never sent it can't have received.
    private var receivedEnd: Int64 {
        guard let acknowledgedEnd, acknowledgedEnd <= sentEnd else { return Int64.min }
        return acknowledgedEnd
    }

    /// The memory of all connections together is used up: what the peer has received is waited for no longer.
    mutating func giveUpReceived() {
        stream.giveUp(upTo: receivedEnd)
    }

    /// A reset may carry text (RFC 1122 4.2.2.12). Other readers count it as data, and so does this one; but it says nothing
    /// about how far its sender had come.
    private mutating func insertResetText(
        _ payload: Span<UInt8>, place: Placement, time: UInt64, index: Int, into taken: inout Taken
    ) {
        guard place.payloadLength > 0 else { return }
        let addition = stream.insert(payload, at: place.payloadStart, wireLength: place.payloadLength)
        taken.hasConflict = addition.hasConflict
        guard addition.newLength > 0 else { return }
        keep(
            DataSegment(
                time: time, packetIndex: index, offset: addition.newOffset,
                length: Int(addition.newEnd - addition.newOffset), isCut: payload.count < place.payloadLength,
                kind: .new))
    }

    private mutating func keep(_ segment: DataSegment) {
        segmentCount += 1
        largestSegment = max(largestSegment, segment.length)
        if segment.isCut { hasCutSegment = true }
        if segments.count < limits.keptSegments { segments.append(segment) }
    }

    /// Something was sent again: until all that had been sent by then is acknowledged, no other repeat is a probe.
    private mutating func noteRecovery(_ place: Placement) {
        recovery.lastStart = place.start
        recovery.end = max(recovery.end, sentEnd)
    }

    private mutating func keepRepeat(_ taken: Taken, time: UInt64, index: Int) {
        let isSYN = taken.place.flags.contains(.syn)
        if taken.kind.isRetransmission {
            retransmissionCount += 1
            hasProbedTail = true
            noteRecovery(taken.place)
            if isSYN { noteRepeatedSYN() }
        }
        let hasRoom = repeats.count < limits.keptEvents
        let isProbe = taken.kind == .tailLossProbe || taken.kind == .retransmissionOrProbe
        if isProbe {
            hasProbedTail = true
            noteRecovery(taken.place)
            if taken.kind == .tailLossProbe { recovery.probes += 1 } else { recovery.undecided += 1 }
            recovery.doubtful += 1
            tailProbe = TailProbe(
                repeatIndex: hasRoom ? repeats.count : nil, start: taken.place.start, end: taken.place.end,
                stamp: taken.stamp == tailStamp ? nil : taken.stamp, kind: taken.kind)
        }
        guard hasRoom else { return }
        repeats.append(
            RepeatedSegment(
                time: time, packetIndex: index, offset: isSYN ? taken.place.start : taken.place.payloadStart,
                length: taken.place.payloadLength, kind: taken.kind,
                hasConflict: taken.hasConflict && taken.kind != .keepAlive, isDoubtful: isProbe))
    }
}
