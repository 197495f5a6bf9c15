import ProbeBase

/// Bytes that a member received and no statement of its script consumed.
///
/// They are judged when the connection ends, and when the crowd is asked for its last report. A connection that the script resets is exempt,
/// as is one with `ignore rest`. A member that has not finished its script is judged by what the rest of it would do with the bytes: those
/// that an `expect` would consume or may still wait for are not left over.
extension CrowdCore {
    /// The number of bytes kept of what no statement looks at, for the report.
    static var keptRest: Int { 64 }

    /// Keeps bytes that no statement ahead can look at: the first few of them, and the number of all others.
    func keepRest(_ member: Int, _ received: UnsafeRawBufferPointer) {
        if members[member].flags.contains(.ignoresRest) { return }
        let room = max(0, Self.keptRest - (members[member].input.count - Int(members[member].taken)))
        members[member].input.append(contentsOf: received.prefix(room))
        members[member].surplus += max(0, received.count - room)
    }

    /// Called when no later statement looks at the input: a hundred thousand members must not keep all of it.
    func trimRest(_ member: Int) {
        let rest = members[member].flags.contains(.ignoresRest) ? [] : members[member].rest
        members[member].surplus += max(0, rest.count - Self.keptRest)
        members[member].input = Array(rest.prefix(Self.keptRest))
        (members[member].taken, members[member].scanned) = (0, 0)
    }

    /// Receives what the kernel has before the script closes the connection.
    func receiveRest(_ member: Int) {
        guard mayRead(member), members[member].connection == .open, !members[member].flags.contains(.ignoresRest) else {
            return
        }
        // A peer that never stops sending must not hold up the thread.
        for _ in 0..<16 where members[member].flags.contains(.readable) {
            guard case .bytes(let count) = connections.read(member, into: buffer) else { return }
            tally.snapshot.received += count
            keepRest(member, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Judges a connection that is about to end.
    func judgeRest(_ member: Int) {
        guard members[member].state != .failed, let rest = unconsumed(by: member) else { return }
        guard members[member].flags.insert(.hadRest).inserted else { return }
        tally.snapshot.addRest(of: 1, rest)
    }

    /// The members whose open connections have bytes left over at this moment, after everything in the kernel was received.
    func openRests(at now: Int64) -> (members: Int, example: CrowdSnapshot.Rest?) {
        for member in members.indices where members[member].connection == .open { readable(member, at: now) }
        var found: (members: Int, example: CrowdSnapshot.Rest?) = (0, nil)
        for member in members.indices where members[member].connection == .open {
            if members[member].flags.contains(.hadRest) { continue }
            guard let rest = unconsumed(by: member) else { continue }
            found = (found.members + 1, found.example ?? rest)
        }
        return found
    }

    /// The bytes that the member's script leaves over if nothing more is received; `nil` if there are none.
    private func unconsumed(by member: Int) -> CrowdSnapshot.Rest? {
        guard members[member].connection == .open, !members[member].flags.contains(.ignoresRest) else { return nil }
        let unread = mayRead(member) ? 0 : connections.unread(member)
        let rest = members[member].rest
        guard rest.count + members[member].surplus + unread > 0,
            let taken = input.taken(
                from: rest, by: program, at: Int(members[member].instruction), matchers)
        else {
            return nil
        }
        let count = rest.count - taken + members[member].surplus + unread
        return count > 0
            ? CrowdSnapshot.Rest(bytes: Array(rest[taken...].prefix(Self.keptRest)), count: count) : nil
    }
}

extension MemberInput {
    /// How many of the bytes the statements ahead would consume; `nil` if what is left doesn't matter, or may still be waited for.
    func taken(
        from rest: [UInt8], by program: MemberProgram, at instruction: Int, _ matchers: [Int: LineMatcher]
    ) -> Int? {
        var (place, taken) = (instruction, 0)
        var takenBefore: Int?
        while place < program.instructions.count {
            switch program.instructions[place] {
            case .acceptRest, .reset: return nil
            case .connect, .close, .sendEndlessly: return taken
            case .send, .wait, .stopReading, .read: place += 1
            case .expect(let wait, _):
                let bytes = rest.span.extracting(droppingFirst: taken)
                switch look(for: wait, in: bytes, scanned: 0, matcher: matchers[place]) {
                case .met(let count): taken += count
                case .mismatch: return taken
                case .pending: return nil
                }
                place += 1
            case .jump(let target):
                // What was received before a new request is no answer to it. Without requests the peer speaks by itself, and the next rounds
                // take what it has said.
                let asks = program.instructions[target..<place].contains { if case .send = $0 { true } else { false } }
                if asks || taken == rest.count || takenBefore == taken { return taken }
                (takenBefore, place) = (taken, target)
            }
        }
        return taken
    }
}

extension CrowdMember {
    /// What was received and not consumed, as far as it was kept.
    fileprivate var rest: [UInt8] { Array(input.dropFirst(Int(taken))) }
}

extension CrowdSnapshot {
    /// Bytes that no statement consumed.
    package struct Rest: Sendable, Equatable {
        /// The first of them; fewer than `count` if there are many, or if the member does not read.
        package var bytes: [UInt8]
        package var count: Int

        package init(bytes: [UInt8], count: Int) { (self.bytes, self.count) = (bytes, count) }
    }

    mutating func addRest(of members: Int, _ example: Rest?) {
        withRest += members
        rest = rest ?? example
    }
}
