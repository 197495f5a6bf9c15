import ProbeBase

extension CrowdCore {
    /// Does the instruction of a member, or a part of it. False: it waits for something.
    func step(_ member: Int, at now: Int64) -> Bool {
        let place = Int(members[member].instruction)
        if members[member].flags.contains(.atEnd), members[member].connection == .open, !looksAhead(member) {
            // It came with the last of what was waited for: the same as if it came now.
            peerEnded(member, at: now)
            if members[member].state == .failed { return false }
        }
        guard place < program.instructions.count else {
            finish(member, at: now)
            return false
        }
        switch program.instructions[place] {
        case .connect(let within): return connect(member, within: within, at: now)
        case .send(let pieces, let pause): return send(member, pieces, pause, at: now)
        case .sendEndlessly(let bytes, let interval): return sendEndlessly(member, bytes, interval, at: now)
        case .expect(let wait, let within): return expect(member, wait, within, at: now)
        case .wait(let duration):
            pause(member, for: duration, at: now)
            return false
        case .close:
            receiveRest(member)
            drop(member) { $0.close(member) }
        case .reset: drop(member, isJudged: false) { $0.reset(member) }
        case .acceptRest: members[member].flags.insert(.ignoresRest)
        case .stopReading: members[member].flags.insert(.stopsReading)
        case .read:
            members[member].slowReading = Int32(place)
            members[member].flags.remove(.stopsReading)
            setReading(member, at: now)
        case .jump(let target):
            members[member].instruction = Int32(target)
            members[member].flags.insert(.hasRepeated)
            return true
        }
        members[member].instruction += 1
        return true
    }

    private func finish(_ member: Int, at now: Int64) {
        members[member].state = .done
        if !members[member].flags.contains(.wasDone) {
            members[member].flags.insert(.wasDone)
            tally.snapshot.done += 1
        }
        trimRest(member)
        if members[member].connection == .open { _ = take(member, at: now) }
    }

    private func pause(_ member: Int, for duration: Duration, at now: Int64) {
        members[member].state = .pausing
        // Never shorter than it says, also where this thread is late.
        setWake(member, at: later(max(members[member].due, now), by: duration))
    }

    // MARK: Sending

    private func send(_ member: Int, _ pieces: [[UInt8]], _ pause: Duration, at now: Int64) -> Bool {
        while Int(members[member].piece) < pieces.count {
            guard write(member, pieces[Int(members[member].piece)], at: now) else { return false }
            members[member].piece += 1
            if pause > .zero, Int(members[member].piece) < pieces.count {
                self.pause(member, for: pause, at: now)
                return false
            }
        }
        members[member].piece = 0
        members[member].instruction += 1
        return true
    }

    private func sendEndlessly(_ member: Int, _ bytes: [UInt8], _ interval: Duration, at now: Int64) -> Bool {
        guard write(member, bytes, at: now) else { return false }
        // By the schedule of the first one; where one was late, the missed ones are not sent in a burst.
        members[member].state = .pausing
        setWake(member, at: max(later(members[member].due, by: interval), now))
        return false
    }

    /// Writes what is left of the bytes. False: it could not write all.
    private func write(_ member: Int, _ bytes: [UInt8], at now: Int64) -> Bool {
        guard members[member].connection == .open else {
            fail(member, "it is not connected")
            return false
        }
        while Int(members[member].written) < bytes.count {
            let start = Int(members[member].written)
            let result = bytes.withUnsafeBytes {
                connections.write(member, UnsafeRawBufferPointer(rebasing: $0[start...]))
            }
            switch result {
            case .wrote(let count):
                members[member].written += Int32(count)
                tally.snapshot.sent += count
            case .blocked:
                members[member].state = .blocked
                setWake(member, at: later(now, by: program.patience))
                return false
            case .failed(let reason):
                fail(member, reason)
                return false
            }
        }
        members[member].written = 0
        return true
    }

    // MARK: Receiving

    func mayRead(_ member: Int) -> Bool {
        !members[member].flags.contains(.stopsReading) && members[member].slowReading < 0
    }

    /// Reads what the kernel has, as far as the member takes it. True: it may go on with its script.
    @discardableResult
    func take(_ member: Int, at now: Int64) -> Bool {
        guard mayRead(member) else { return false }
        return read(member, limit: .max, at: now)
    }

    func readSlowly(_ member: Int, at now: Int64) {
        members[member].reads = .max
        let place = Int(members[member].slowReading)
        guard place >= 0, case .read(let count, let interval) = program.instructions[place] else { return }
        setReading(member, at: later(now, by: interval))
        if read(member, limit: count, at: now) { run(member, at: now) }
    }

    private func read(_ member: Int, limit: Int, at now: Int64) -> Bool {
        var left = limit
        var goesOn = false
        while left > 0, members[member].flags.contains(.readable), members[member].connection == .open,
            members[member].input.count - Int(members[member].taken) < mostInput
        {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(left, buffer.count)])
            switch connections.read(member, into: room) {
            case .bytes(let count):
                left -= count
                tally.snapshot.received += count
                if looksAhead(member) {
                    members[member].input.append(contentsOf: buffer[..<count])
                    goesOn = goesOn || members[member].state == .expecting
                } else {
                    keepRest(member, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            case .blocked: members[member].flags.remove(.readable)
            case .end:
                members[member].flags.remove(.readable)
                peerEnded(member, at: now)
                return members[member].state == .expecting && resume(member)
            case .failed(let reason):
                connectionFailed(member, reason)
                return false
            }
        }
        return goesOn && resume(member)
    }

    /// An `expect` is looked at again.
    private func resume(_ member: Int) -> Bool {
        members[member].state = .running
        return true
    }

    /// The peer has sent its FIN.
    func peerEnded(_ member: Int, at now: Int64) {
        members[member].flags.insert(.atEnd)
        switch members[member].state {
        case .done, .failed: drop(member) { $0.close(member) }
        case .expecting: break
        case .waitingToStart, .running, .queued, .connecting, .blocked, .pausing:
            // What has come may still be what the script waits for; without such a step nothing more can become of it.
            if looksAhead(member) { return }
            if needsConnection(member) { fail(member, closedText) } else { hangUp(member) }
        }
    }

    /// Its connection has ended, and its script goes on without.
    private func hangUp(_ member: Int) {
        let wakes = members[member].wakes
        drop(member) { $0.close(member) }
        members[member].wakes = wakes
    }

    private func connectionFailed(_ member: Int, _ reason: String) {
        if members[member].state == .done {
            drop(member) { $0.close(member) }
        } else {
            fail(member, reason)
        }
    }

    // MARK: Expecting

    private func expect(_ member: Int, _ wait: MemberProgram.Wait, _ within: Duration, at now: Int64) -> Bool {
        guard members[member].connection == .open else {
            fail(member, "it is not connected")
            return false
        }
        let isFirstLook = members[member].wakes == .max
        while true {
            switch look(member, for: wait) {
            case .met(let count):
                took(member, count)
                tally.record(MemberWait(wait), now - members[member].due)
                members[member].wakes = .max
                members[member].due = now
                members[member].instruction += 1
                return true
            case .mismatch(let text):
                fail(member, text)
                return false
            case .pending(let scanned):
                members[member].scanned = Int32(scanned)
                if members[member].flags.contains(.atEnd) {
                    fail(member, closedText)
                    return false
                }
                let before = members[member].input.count
                if mayRead(member), members[member].flags.contains(.readable) { _ = read(member, limit: .max, at: now) }
                guard members[member].state == .running else { return false }
                if members[member].input.count > before || members[member].flags.contains(.atEnd) { continue }
                members[member].state = .expecting
                if isFirstLook { setWake(member, at: later(now, by: within)) }
                return false
            }
        }
    }

    private func look(_ member: Int, for wait: MemberProgram.Wait) -> MemberInput.Result {
        let place = Int(members[member].instruction)
        if case .eof = wait, members[member].flags.contains(.atEnd),
            members[member].input.count == Int(members[member].taken)
        {
            return .met(0)
        }
        let received = members[member].input
        if case .eof = wait, members[member].flags.contains(.ignoresRest) {
            // Only the end matters.
            let rest = received.count - Int(members[member].taken)
            return members[member].flags.contains(.atEnd) ? .met(rest) : .pending(scanned: 0)
        }
        return input.look(
            for: wait, in: received.span.extracting(droppingFirst: Int(members[member].taken)),
            scanned: Int(members[member].scanned), matcher: matchers[place])
    }

    private func took(_ member: Int, _ count: Int) {
        members[member].scanned = 0
        members[member].taken += Int32(count)
        if Int(members[member].taken) == members[member].input.count {
            members[member].input = []
            members[member].taken = 0
        } else if members[member].taken > 16384 {
            members[member].input.removeFirst(Int(members[member].taken))
            members[member].taken = 0
        }
    }
}
