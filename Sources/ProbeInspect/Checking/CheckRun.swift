import ProbeSystem
package import ProbeBase
package import ProbeEvents
package import ProbeWire

/// Judges wire statements on the flows of a complete capture.
package struct CheckRun: Sendable {
    package struct Outcome: Sendable {
        /// The verdict: `passed`, `failed` or `inconclusive`.
        package var verdict: Verdict
        package var check: WireCheck
        /// The flow on which the statement was judged; `nil` if the outcome concerns no flow.
        package var flow: ConnectionName?
        package var failure: WireFailure?
        /// The location of the step in the run, such as `crlf.scn:12`, at which the same statement was judged; `nil` if
        /// there is no such step.
        package var step: String?
    }

    /// The number and the endpoints of a flow. An outcome does not contain the conversation itself, because the
    /// conversation would take too much memory.
    package struct ConnectionName: Sendable, Hashable {
        package var number: Int
        package var client: SocketEndpoint
        package var server: SocketEndpoint
    }

    /// The outcomes, ordered by flow and then by statement.
    package let outcomes: [Outcome]

    package init(_ checks: [WireCheck], on inspection: Inspection, filter: ConnectionFilter) {
        var outcomes: [Outcome] = []
        Self.judge(checks, on: inspection, filter: filter) { outcomes.append($0) }
        self.outcomes = outcomes
    }

    /// Judges the flows and passes each outcome to `body`, in order. No outcome is kept in memory.
    package static func judge(
        _ checks: [WireCheck], on inspection: Inspection, filter: ConnectionFilter, _ body: (Outcome) -> Void
    ) {
        let all = inspection.analysis.table.conversations.indices
        let isAny = judge(checks, on: inspection, all, filter: filter, deliversPassed: true, body).isAny
        judgeRest(isAny: isAny, checks, inspection, filter, body)
    }

    /// Passes on the outcomes that concern no flow: either there is no flow to judge, or some flows could not be
    /// followed.
    private static func judgeRest(
        isAny: Bool, _ checks: [WireCheck], _ inspection: Inspection, _ filter: ConnectionFilter,
        _ body: (Outcome) -> Void
    ) {
        guard let unfollowed = inspection.unfollowed(filter) else {
            if !isAny { judgeNothing(checks, inspection, filter, body) }
            return
        }
        for check in checks { body(Outcome(verdict: .inconclusive, check: check, failure: WireFailure(unfollowed))) }
    }

    /// Judges the flows on two threads, and passes the texts that `word` produces for the outcomes to `output`, in
    /// order. Returns the number of outcomes with each verdict.
    ///
    /// - Parameter wordsPassed: whether `word` is also called for outcomes that passed, which are the majority.
    package static func judge(
        _ checks: [WireCheck], on inspection: Inspection, filter: ConnectionFilter, wordsPassed: Bool,
        word: @escaping @Sendable (Outcome, inout [UInt8]) -> Void, to output: ([UInt8]) -> Void
    ) -> Tally {
        let count = inspection.analysis.table.conversations.count
        let length = max(1, min(longestBlock, (count + 1) / 2))
        let blocks = stride(from: 0, to: count, by: length).map { $0..<min($0 + length, count) }
        var tally = Tally()
        var isAny = false
        let judgeBlock = { @Sendable (block: Range<Int>) -> BlockResult in
            var result = BlockResult()
            let (isAny, passed) = judge(
                checks, on: inspection, block, filter: filter, deliversPassed: wordsPassed
            ) { outcome in
                word(outcome, &result.text)
                result.tally.count(outcome)
            }
            result.isAny = isAny
            result.tally.countPassed(passed)
            return result
        }
        // Only two blocks of flows are judged at a time, because the text of a block is kept in memory until the
        // previous block's text has been written.
        for number in stride(from: 0, to: blocks.count, by: 2) {
            var results: [BlockResult]
            if number + 1 < blocks.count {
                let (own, other) = WorkerThread.both({ judgeBlock(blocks[number]) }, { judgeBlock(blocks[number + 1]) })
                results = [own, other]
            } else {
                results = [judgeBlock(blocks[number])]
            }
            for result in results {
                output(result.text)
                tally.add(result.tally)
                isAny = isAny || result.isAny
            }
        }
        judgeRest(isAny: isAny, checks, inspection, filter) { outcome in
            var text: [UInt8] = []
            word(outcome, &text)
            output(text)
            tally.count(outcome)
        }
        return tally
    }

    /// The maximum number of flows that a thread judges before its results are written.
    private static let longestBlock = 4_096

    private struct BlockResult: Sendable {
        var text: [UInt8] = []
        var tally = Tally()
        var isAny = false
    }

    /// Judges a range of flows.
    ///
    /// - Returns: whether the filter includes any of the flows, and the number of `passed` outcomes that `body` did not
    ///   receive.
    private static func judge(
        _ checks: [WireCheck], on inspection: Inspection, _ flows: Range<Int>, filter: ConnectionFilter,
        deliversPassed: Bool, _ body: (Outcome) -> Void
    ) -> (isAny: Bool, passed: Int) {
        let conversations = inspection.analysis.table.conversations
        let doubt = doubt(about: inspection)
        var isAny = false
        var passed = 0
        for number in flows where filter.includes(number, of: conversations) {
            isAny = true
            let ends = conversations.endpoints(at: number)
            let flow = ConnectionName(number: number, client: ends.client, server: ends.server)
            // The checks are accessed by index, because copies would make both threads update the same reference
            // counts.
            for index in checks.indices {
                let verdict = conversations.judge(checks[index].assertion, at: number, names: .statement)
                if case .passed = verdict, doubt == nil, !deliversPassed {
                    passed += 1
                    continue
                }
                body(outcome(checks[index], flow, verdict, doubt, isWhole: inspection.problem == nil))
            }
        }
        return (isAny, passed)
    }

    private static func judgeNothing(
        _ checks: [WireCheck], _ inspection: Inspection, _ filter: ConnectionFilter, _ body: (Outcome) -> Void
    ) {
        let what = filter.isOpen ? "the capture contains no flow" : "no flow matches the filter: \(filter.text)"
        // The part of the file that was not read may contain a flow.
        let doubt =
            inspection.problem == nil
            ? inspection.analysis.unreadOrHidden.map { "\(what), but \($0)" }
            : "\(what), as far as the capture "
                + "could be read"
        for check in checks {
            body(
                Outcome(
                    verdict: doubt == nil ? .failed : .inconclusive, check: check, failure: WireFailure(doubt ?? what)))
        }
    }

    /// Returns the reason why packets of any flow may be missing, which makes every statement about a flow uncertain.
    /// Returns `nil` if no packets are known to be missing.
    static func doubt(about inspection: Inspection) -> String? {
        guard inspection.dropped == 0 else {
            return
                "the capture dropped \(ByteText.count(Int(clamping: inspection.dropped), "packet")), so verdicts about it may be wrong"
        }
        return inspection.analysis.unread.map { "\($0): they may belong to this flow" }
    }

    static func outcome(
        _ check: WireCheck, _ flow: ConnectionName?, _ verdict: WireVerdict, _ doubt: String?, isWhole: Bool
    ) -> Outcome {
        var outcome = Outcome(verdict: .passed, check: check, flow: flow)
        if let doubt {
            outcome.verdict = .inconclusive
            outcome.failure = WireFailure(doubt)
            return outcome
        }
        switch verdict {
        case .passed: break
        case .failed(let failure):
            outcome.verdict = .failed
            outcome.failure = failure
        case .inconclusive(let reason):
            outcome.verdict = .inconclusive
            outcome.failure = WireFailure(reason)
        case .waiting(let failure):
            outcome.verdict = isWhole ? .failed : .inconclusive
            outcome.failure = failure
            if !isWhole {
                outcome.failure?.details.append(
                    "the file could not be read to its end: the rest of the file may change the verdict")
            }
        }
        return outcome
    }

    /// The number of outcomes with each verdict.
    package struct Tally: Sendable {
        private var counts: [Verdict: Int] = [:]

        package init(_ outcomes: [Outcome] = []) {
            for outcome in outcomes { count(outcome) }
        }

        package mutating func count(_ outcome: Outcome) { counts[outcome.verdict, default: 0] += 1 }

        mutating func countPassed(_ more: Int) {
            if more > 0 { counts[.passed, default: 0] += more }
        }

        package mutating func add(_ other: Tally) { counts.merge(other.counts, uniquingKeysWith: +) }

        package subscript(verdict: Verdict) -> Int { counts[verdict] ?? 0 }

        /// The exit code, as for a run: 1 if a statement failed, otherwise 3 if a statement is inconclusive, otherwise
        /// 0.
        package var exitCode: Int32 {
            if self[.failed] > 0 { return 1 }
            return counts.keys.allSatisfy { $0 == .passed } ? 0 : 3
        }
    }
}

extension SideNames {
    /// The names of the two sides in wire statements about a capture.
    fileprivate static let statement = SideNames(client: "client", server: "server")
}
