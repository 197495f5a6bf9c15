import ProbeEvents

/// Merges the results of a case whose crowds were divided among several processes.
///
/// The verdict is the worst of all results. Counts are added, samples are added by their times, and histograms of waits
/// are added by their buckets. The percentiles are computed from the merged histograms, because percentiles can't be
/// added.
struct CrowdShareMerge {
    struct Part {
        var result: CaseResult
        var share: Share?
    }

    /// A share of the crowd that has no result for the case.
    struct MissingShare {
        var finding: Finding
        var isInterrupted: Bool

        /// Creates the finding about a missing share.
        ///
        /// - Parameter place: the position of the case in the plan.
        init(_ file: ResultsFile, place: Int) {
            let reason =
                file.hasCase(at: place)
                ? file.interruptionText.map { "the run of the share was interrupted before this case (\($0))" }
                    ?? "the run of the share did not reach this case" : "the run of the share did not include this case"
            finding = Finding(
                .error, "\(file.head.name) has no result for this case",
                details: [reason, "the results of the share are in \(file.path)"],
                hints: ["run the share again, and merge the results of all shares"])
            isInterrupted = file.end.interruptedBy != nil
        }
    }

    private(set) var result: CaseResult

    /// Merges the results of the shares.
    ///
    /// - Parameters:
    ///   - parts: at least one result, in the order of their shares.
    ///   - lacks: the shares that have no result.
    init(_ parts: [Part], lacks: [MissingShare] = []) {
        let ordered = parts.enumerated().sorted { left, right in
            (left.element.result.verdict, left.offset) < (right.element.result.verdict, right.offset)
        }.map(\.element)
        result = ordered[0].result
        result.findings = ordered.flatMap { part in
            part.result.findings.map { finding in
                var finding = finding
                if let share = part.share { finding.details.append("in crowd share \(share.index) of \(share.total)") }
                return finding
            }
        }
        result.duration = parts.map(\.result.duration).max() ?? 0
        result.isInterrupted = parts.contains { $0.result.isInterrupted } || lacks.contains(where: \.isInterrupted)
        if !lacks.isEmpty {
            // The first finding must be the finding that caused the verdict.
            result.verdict = min(result.verdict, .error)
            let place = result.findings.firstIndex { $0.verdict > .error } ?? result.findings.count
            result.findings.insert(contentsOf: lacks.map(\.finding), at: place)
        }
        result.crowds = CrowdShareMerge.crowds(parts.map(\.result.crowds))
        if let share = ordered[0].share { result.rerun = CrowdShareMerge.whole(result.rerun, share) }
    }

    /// Returns the command that runs the case with the entire crowd; the recorded command runs only one share of the
    /// crowd.
    static func whole(_ rerun: String, _ share: Share) -> String {
        guard let range = rerun.firstRange(of: " --crowd-share \(share)") else { return rerun }
        var rerun = rerun
        rerun.removeSubrange(range)
        return rerun
    }

    /// Merges the crowds. A crowd that was started several times has several results, which are matched by their order.
    private static func crowds(_ shares: [[CrowdResult]]) -> [CrowdResult] {
        (0..<(shares.map(\.count).max() ?? 0)).map { index in
            let parts = shares.compactMap { $0.indices.contains(index) ? $0[index] : nil }
            var crowd = parts[0]
            for part in parts.dropFirst() where part.name == crowd.name { add(part, to: &crowd) }
            if parts.count > 1 {
                crowd.samples = samples(parts.map(\.samples))
                for index in crowd.latencies.indices { compute(&crowd.latencies[index]) }
            }
            return crowd
        }
    }

    private static func add(_ part: CrowdResult, to crowd: inout CrowdResult) {
        crowd.members = ResultsNumber.sum(crowd.members, part.members)
        for (name, count) in part.counts {
            if let known = crowd.counts.firstIndex(where: { $0.name == name }) {
                crowd.counts[known].count = ResultsNumber.sum(crowd.counts[known].count, count)
            } else {
                crowd.counts.append((name, count))
            }
        }
        crowd.failures += part.failures.filter { !crowd.failures.contains($0) }
        for latency in part.latencies {
            guard let known = crowd.latencies.firstIndex(where: { $0.wait == latency.wait }) else {
                crowd.latencies.append(latency)
                continue
            }
            crowd.latencies[known].count = ResultsNumber.sum(crowd.latencies[known].count, latency.count)
            crowd.latencies[known].failed = ResultsNumber.sum(crowd.latencies[known].failed, latency.failed)
            crowd.latencies[known].buckets = merged(crowd.latencies[known].buckets, latency.buckets)
            for value in latency.percentiles
            where !crowd.latencies[known].percentiles.contains(where: { $0.name == value.name }) {
                crowd.latencies[known].percentiles.append(value)
            }
        }
    }

    private static func merged(
        _ left: [(upTo: Int64, count: Int)], _ right: [(upTo: Int64, count: Int)]
    ) -> [(upTo: Int64, count: Int)] {
        var counts: [Int64: Int] = [:]
        for bucket in left + right { counts[bucket.upTo] = ResultsNumber.sum(counts[bucket.upTo] ?? 0, bucket.count) }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Percentiles

    /// Computes the percentiles from the buckets. A failed wait counts as longer than every other wait.
    private static func compute(_ latency: inout CrowdResult.Latency) {
        let ended = latency.buckets.reduce(0) { ResultsNumber.sum($0, $1.count) }
        let total = max(latency.count, ResultsNumber.sum(ended, latency.failed))
        for index in latency.percentiles.indices {
            guard let percent = percent(latency.percentiles[index].name) else { continue }
            // Because of rounding, a product such as 99.9 / 100 * 1000 may be slightly larger than the exact number.
            let rank = max(1, Int((percent / 100 * Double(total) - 1e-6).rounded(.up)))
            var seen = 0
            var time: Int64?
            for bucket in latency.buckets {
                seen = ResultsNumber.sum(seen, bucket.count)
                if seen >= rank {
                    time = bucket.upTo
                    break
                }
            }
            latency.percentiles[index].time = time
        }
    }

    /// Returns the percentage denoted by a name such as `p99.9`; 100 for `max`.
    private static func percent(_ name: String) -> Double? {
        if name == "max" { return 100 }
        guard name.hasPrefix("p"), let value = Double(String(name.dropFirst())), (0...100).contains(value) else {
            return nil
        }
        return value
    }

    // MARK: Samples

    /// Returns a sample for each time at which a share has a sample. Its values are the sums of the shares' most recent
    /// values.
    private static func samples(_ shares: [[CrowdResult.Sample]]) -> [CrowdResult.Sample] {
        let times = Set(shares.flatMap { $0.map(\.time) }).sorted()
        var places = [Int](repeating: 0, count: shares.count)
        var all: [CrowdResult.Sample] = []
        for time in times {
            var total = CrowdResult.Sample(time: time, connected: 0, done: 0, failed: 0, sent: 0, received: 0)
            for (index, samples) in shares.enumerated() {
                while places[index] < samples.count, samples[places[index]].time <= time { places[index] += 1 }
                guard places[index] > 0 else { continue }
                let sample = samples[places[index] - 1]
                total.connected = ResultsNumber.sum(total.connected, sample.connected)
                total.done = ResultsNumber.sum(total.done, sample.done)
                total.failed = ResultsNumber.sum(total.failed, sample.failed)
                total.sent = ResultsNumber.sum(total.sent, sample.sent)
                total.received = ResultsNumber.sum(total.received, sample.received)
            }
            all.append(total)
        }
        // The shares take their samples at different times, so the merged series has many more samples than the series
        // of a single share.
        let most = max(1, shares.map(\.count).max() ?? 1)
        let step = (all.count + most - 1) / most
        return step <= 1
            ? all
            : all.enumerated().filter { $0.offset % step == step - 1 || $0.offset == all.count - 1 }.map(\.element)
    }
}
