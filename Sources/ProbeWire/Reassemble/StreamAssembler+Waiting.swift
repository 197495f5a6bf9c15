import ProbeBase

/// What waits behind gaps, and bytes that came before with another value.
extension StreamAssembler {
    // MARK: Waiting

    /// Keeps the parts of [start, stop) that no waiting chunk has; `payload` begins at `offset`.
    mutating func wait(
        _ payload: Span<UInt8>, at offset: Int64, from start: Int64, to stop: Int64, into addition: inout Addition
    ) {
        var position = start
        var index = firstChunk(endingBehind: start)
        while position < stop {
            if index < waiting.count, waiting[index].start <= position {
                compareWaiting(waiting[index], payload, at: offset, into: &addition)
                position = max(position, waiting[index].end)
                index += 1
                continue
            }
            let next = index < waiting.count ? min(stop, waiting[index].start) : stop
            if addition.newLength == 0 { addition.newOffset = position }
            addition.newLength += Int(next - position)
            addition.newEnd = next
            let captured = payload.clamping(Int(position - offset)..<Int(next - offset))
            if index > 0, waiting[index - 1].end == position,
                Int64(waiting[index - 1].bytes.count) == position - waiting[index - 1].start
            {
                rest.value.waiting[index - 1].bytes.append(span: payload.extracting(captured))
                rest.value.waiting[index - 1].end = next
                rest.value.waitingBytes += captured.count
            } else {
                let chunk = Chunk(start: position, end: next, bytes: payload.extracting(captured).array)
                rest.value.waiting.insert(chunk, at: index)
                hasWaiting = true
                rest.value.waitingBytes += captured.count + 64
                index += 1
            }
            position = next
        }
    }

    private func firstChunk(endingBehind offset: Int64) -> Int {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Conflicts

    private mutating func compareWaiting(
        _ chunk: Chunk, _ payload: Span<UInt8>, at offset: Int64, into addition: inout Addition
    ) {
        let from = max(chunk.start, offset)
        let to = min(chunk.start + Int64(chunk.bytes.count), offset + Int64(payload.count))
        guard from < to else { return }
        for position in from..<to
        where chunk.bytes[Int(position - chunk.start)] != payload[Int(position - offset)] {
            note(conflictAt: position, in: &addition)
            return
        }
    }

    mutating func compareDelivered(
        _ payload: Span<UInt8>, at offset: Int64, into addition: inout Addition
    ) {
        var position = max(offset, 0)
        let stop = min(end, offset + Int64(payload.count))
        guard position < stop else { return }
        let gaps = rest.value.gaps
        // The gaps are walked over once: a segment may reach over thousands of them.
        var index = firstGap(endingBehind: position)
        var shift = gaps[..<index].reduce(0) { $0 + $1.length }
        while position < stop {
            if index < gaps.count, gaps[index].offset <= position {
                rest.value.lateLength += min(stop, gaps[index].end) - position
                noteLate(forGapAt: index)
                position = gaps[index].end
                shift += gaps[index].length
                index += 1
                continue
            }
            let until = min(stop, index < gaps.count ? gaps[index].offset : stop)
            while position < until, position - shift < Int64(rest.value.bytes.count) {
                if rest.value.bytes[Int(position - shift)] != payload[Int(position - offset)] {
                    note(conflictAt: position, in: &addition)
                    return
                }
                position += 1
            }
            position = until
        }
    }

    /// Bytes of this gap have come after all. Where they were waited for as long as the memory allowed, it was too little.
    private mutating func noteLate(forGapAt index: Int) {
        guard rest.value.gaps[index].cause != .cutShort else { return }
        hasLateBytes = true
        guard limits.patience == .memory else { return }
        hasReachedLimit = true
        rest.value.gaps[index].cause = .limitReached
    }

    private func firstGap(endingBehind offset: Int64) -> Int {
        var low = 0
        var high = rest.value.gaps.count
        while low < high {
            let middle = (low + high) / 2
            if rest.value.gaps[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func note(conflictAt offset: Int64, in addition: inout Addition) {
        guard !addition.hasConflict else { return }
        addition.hasConflict = true
        rest.value.conflictCount += 1
        if firstConflict == nil { rest.value.firstConflict = offset }
    }
}
