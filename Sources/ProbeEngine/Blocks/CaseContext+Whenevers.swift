import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// `whenever`: answers to lines, beside the steps.
extension CaseContext {
    /// Answers the lines that have come and that a `whenever` is for; they reach no `expect`.
    func serveWhenevers(of owner: ConnectionActor) {
        guard !owner.whenevers.isEmpty, !owner.waitsForRawBytes, let connection = owner.connection else { return }
        let taken = linesToAnswer(owner, connection.receiveBuffer)
        if !taken.isEmpty { connection.receiveBuffer.remove(taken) }
    }

    /// Looks at what has come since the last time, and begins the answers.
    ///
    /// - Returns: where the lines are that are answered.
    private func linesToAnswer(_ owner: ConnectionActor, _ buffer: ReceiveBuffer) -> [Range<Int>] {
        var offset = max(0, owner.wheneverPosition - buffer.consumed)
        let searched = max(0, owner.wheneverSearched - buffer.consumed)
        var taken: [Range<Int>] = []
        while offset <= buffer.count,
            case .unit(let unit) = FrameScanner.next(owner.framing, in: buffer, from: offset, searched: searched)
        {
            let content = buffer.bytes(unit.content)
            if let (rule, match) = firstRule(of: owner, for: content) {
                taken.append(offset..<unit.end)
                rule.uses += 1
                let groups = match.groups.map { ($0.name, Value.bytes($0.range.map { Array(content[$0]) } ?? [])) }
                answer(rule, groups, owner)
            }
            offset = unit.end
        }
        // What is behind the lines that are taken out keeps its position in the stream.
        owner.wheneverPosition = buffer.consumed + min(offset, buffer.count)
        owner.wheneverSearched = buffer.received
        return taken
    }

    private func firstRule(of owner: ConnectionActor, for line: [UInt8]) -> (WheneverRule, ByteRegex.Match)? {
        for rule in owner.whenevers {
            if let match = rule.regex.firstMatch(in: line) { return (rule, match) }
        }
        return nil
    }

    /// Answers run one after the other, beside the steps.
    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)], _ owner: ConnectionActor) {
        owner.answers.append((rule, groups))
        if owner.isAnswering { return }
        owner.isAnswering = true
        startAnswering(owner.name)
    }

    /// Answers that are under way belong to the case: it ends when they have.
    func finishAnswers() async throws(Finding) {
        let begun = MonotonicTime.now
        let end = begun + scaled(scenario.timeout)
        let _: Void? = try await wait(until: end, from: begun) { () throws(Finding) -> Void? in
            connections.entries.contains { $0.owner.isAnswering } ? nil : ()
        }
    }
}
