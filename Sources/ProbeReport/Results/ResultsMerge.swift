import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Merges the results files of all shards of a run: the results, in the order of the plan, and how the run ended.
package struct ResultsMerge: Sendable {
    /// The location of a result, and its position in the order of the run.
    private struct Place: Sendable {
        /// The index of the result's file in ``files``.
        var file: Int
        var entry: Int
        var place: Int
        var round: Int

        func isSameCase(as other: Place) -> Bool { place == other.place && round == other.round }
    }

    /// The files that are merged: one for each shard or, if crowds were divided, one for each crowd share.
    private let files: [ResultsFile]
    /// The results in order. The results of the shares of a crowd are next to each other.
    private var order: [Place] = []
    /// The number of results. The shares of a crowd count as one result.
    private var resultCount = 0
    /// The number of cases that have no result.
    private var unrunCount = 0
    /// The cases of the plan, in order.
    package private(set) var planned: [PlannedCase] = []
    /// The options that a single run of the whole plan would have.
    package private(set) var options = ReportOptions()
    /// Remarks about the files, such as attempts that were replaced and shards that were interrupted.
    package private(set) var remarks: [String] = []
    /// The head of a results file for the whole run.
    package private(set) var head: ResultsHead
    private let end: ResultsEnd
    /// The sentences that are reported at the end of the run.
    package var notes: [String] { end.notes }

    /// Merges results files.
    ///
    /// - Parameter given: the files, at least one.
    /// - Throws: an error that names the files and states why they can't be merged.
    package init(_ given: [ResultsFile]) throws(ResultsProblem) {
        guard let first = given.first else { throw ResultsProblem("no results files were specified") }
        for file in given.dropFirst() { try ResultsMerge.requireFit(file, first) }
        let (last, remarks) = try ResultsMerge.lastAttempts(given)
        self.remarks = remarks
        files = last
        try ResultsMerge.requireAll(last)
        end = ResultsMerge.end(of: last)

        var head = ResultsHead(planHash: first.head.planHash, planCases: first.head.planCases, places: [])
        (head.version, head.isStrict) = (first.head.version, first.head.isStrict)
        head.hasSeveralSubjects = first.head.hasSeveralSubjects
        head.startedAt = last.compactMap(\.head.startedAt).min()
        self.head = head

        var rules = RunRules(strict: head.isStrict)
        rules.expectations = Expectations(last.flatMap(\.expectations))
        options.rules = rules
        (options.hasSeveralSubjects, options.version) = (head.hasSeveralSubjects, head.version)
        options.startedAt = head.startedAt
        try collect()
        self.remarks += ResultsMerge.startRemarks(last) + ResultsMerge.interruptionRemarks(last)
    }

    /// The title of the merged run, such as `8 shards: 96 cases`.
    package var title: String {
        let crowds = files.first?.head.crowdShare.map { ByteText.count($0.total, "crowd share") }
        let shards = files.first.map { ByteText.count($0.head.share.total, "shard") }
        return "\(crowds ?? shards ?? ""): \(ByteText.count(planned.count, "case"))"
    }

    /// The expected number of results; `Int.max` for a run without a limit.
    private var expectedResults: Int {
        var most: [Int: Int] = [:]
        for file in files {
            guard let expected = file.head.expectedResults else { return .max }
            // All shares of a crowd run the same cases, so their results are counted only once.
            most[file.head.share.index] = max(most[file.head.share.index] ?? 0, expected)
        }
        // If a file states too small a number of results, the known results and the missing cases are counted instead.
        return max(most.values.reduce(0, ResultsNumber.sum), resultCount + unrunCount)
    }

    /// Emits the events of the merged run, as if a single process had run it.
    ///
    /// - Parameter emit: a function that receives an event, and its time in nanoseconds since the run began.
    /// - Throws: an error if a result can't be read.
    package func replay(_ emit: (RunEvent, Int64) -> Void) throws(ResultsProblem) {
        emit(.started(caseCount: expectedResults), 0)
        for message in ResultsMerge.distinct(files.flatMap(\.messages)) { emit(.message(message), 0) }
        var time: Int64 = 0
        var counts = ResultCounts()
        var next = 0
        while next < order.count {
            let start = next
            while next < order.count, order[next].isSameCase(as: order[start]) { next += 1 }
            let result = try result(of: order[start..<next])
            counts.count(result.verdict, options.rules.disposition(of: result))
            emit(.caseStarted(id: result.id, subject: result.subject), time)
            time += max(0, result.duration)
            emit(.caseEnded(result), time)
        }
        var summary = RunSummary()
        (summary.interruptedBy, summary.duration) = (end.interruptedBy, end.duration)
        (summary.packetsCaptured, summary.packetsDropped) = (end.packetsCaptured, end.packetsDropped)
        (summary.runErrors, summary.hasGivenUpSubject) = (end.runErrors, end.hasGivenUpSubject)
        (summary.results, summary.isStrict) = (counts, head.isStrict)
        // If one of the runs failed, the merged run must not pass.
        if summary.exitCode == 0 { summary.runErrors += files.compactMap(\.failureText) }
        emit(.ended(summary), max(time, end.duration))
    }

    /// Returns the merged result of a case.
    ///
    /// - Parameter places: all results of the case in one round, that is, one result or one for each share of a crowd.
    private func result(of places: ArraySlice<Place>) throws(ResultsProblem) -> CaseResult {
        var parts: [CrowdShareMerge.Part] = []
        for place in places {
            let file = files[place.file]
            let result = try file.result(file.entries[place.entry])
            guard file.head.crowdShare != nil else { return result }
            parts.append(CrowdShareMerge.Part(result: result, share: file.head.crowdShare))
        }
        let own = Set(places.map(\.file))
        let lacks = files.indices.filter { index in
            !own.contains(index) && files[index].head.share == places.first.map { files[$0.file].head.share }
        }
        return CrowdShareMerge(
            parts, lacks: lacks.map { CrowdShareMerge.MissingShare(files[$0], place: places.first?.place ?? 0) }
        ).result
    }

    // MARK: The cases

    /// Sorts the results into the order in which one process would have run the cases: round by round, in the order of
    /// the plan.
    private mutating func collect() throws(ResultsProblem) {
        var owners: [Int: (file: Int, item: PlannedCase)] = [:]
        var keys: Set<CaseKey> = []
        var total: Int64 = 0
        for (index, file) in files.enumerated() {
            for (place, item) in file.planned {
                if let owner = owners[place] {
                    try ResultsMerge.requireSame(item, in: file, as: owner.item, in: files[owner.file], place: place)
                    continue
                }
                guard keys.insert(item.key).inserted else {
                    throw ResultsProblem("case \(Escaped.text(item.id)) occurs twice in the plan: \(file.name)")
                }
                var item = item
                if let share = file.head.crowdShare { item.rerun = CrowdShareMerge.whole(item.rerun, share) }
                owners[place] = (index, item)
            }
            for (number, entry) in file.entries.enumerated() {
                order.append(
                    Place(file: index, entry: number, place: file.planned[entry.item].place, round: entry.round))
                let (sum, overflow) = total.addingReportingOverflow(entry.duration)
                if overflow { throw ResultsProblem("\(file.name): the durations are implausibly long") }
                total = sum
            }
        }
        let missing = head.planCases - owners.count
        if missing > 0 {
            var first = 1
            while owners[first] != nil { first += 1 }
            throw ResultsProblem(
                "\(ByteText.count(missing, "case")) of the plan \(missing == 1 ? "is" : "are") in no shard, such as "
                    + "case \(first) of \(head.planCases): \(ResultsMerge.names(files))")
        }
        head.places = Array(1..<head.planCases + 1)
        planned = owners.sorted { $0.key < $1.key }.map(\.value.item)
        order.sort { ($0.round, $0.place, $0.file) < ($1.round, $1.place, $1.file) }
        for index in order.indices where index == 0 || !order[index].isSameCase(as: order[index - 1]) {
            resultCount += 1
        }
        unrunCount = planned.count - Set(order.map(\.place)).count
    }

    // MARK: The end

    private static func end(of files: [ResultsFile]) -> ResultsEnd {
        var end = ResultsEnd()
        for file in files {
            end.interruptedBy = end.interruptedBy ?? file.end.interruptedBy
            // The shards are assumed to have run at the same time.
            end.duration = max(end.duration, file.end.duration)
            end.packetsCaptured = ResultsNumber.sum(end.packetsCaptured, file.end.packetsCaptured)
            end.packetsDropped = ResultsNumber.sum(end.packetsDropped, file.end.packetsDropped)
            end.runErrors += file.end.runErrors
            if let text = file.gapText { end.runErrors.append(text) }
            end.hasGivenUpSubject = end.hasGivenUpSubject || file.end.hasGivenUpSubject
        }
        end.notes = distinct(files.flatMap(\.end.notes))
        return end
    }

    /// Returns the texts without duplicates, because a message that applies to all shards is reported by each shard.
    private static func distinct(_ texts: [String]) -> [String] {
        var known: Set<String> = []
        return texts.filter { known.insert($0).inserted }
    }
}

/// Determines which results files belong together, and which of several attempts to run a shard is used.
extension ResultsMerge {
    /// The maximum number of items that a message lists.
    private static let maxNamed = 10
    private static let secondsPerDay: Int64 = 86_400

    /// Checks that two files belong to the same run.
    ///
    /// - Throws: an error if the files are from different plans.
    static func requireFit(_ file: ResultsFile, _ first: ResultsFile) throws(ResultsProblem) {
        func differ(_ what: String, _ one: String, _ other: String) -> ResultsProblem {
            ResultsProblem("\(what): \(one) in \(first.name), \(other) in \(file.name)")
        }
        let (one, other) = (first.head, file.head)
        if one.version != other.version {
            throw differ(
                "results of different versions of tcpprobe cannot be merged", Escaped.text(one.version),
                Escaped.text(other.version))
        }
        if one.planHash != other.planHash || one.planCases != other.planCases {
            throw differ(
                "results of different plans cannot be merged (different cases, scripts or options)",
                "plan \(Escaped.text(String(one.planHash.prefix(8)))) of \(ByteText.count(one.planCases, "case"))",
                "plan \(Escaped.text(String(other.planHash.prefix(8)))) of \(ByteText.count(other.planCases, "case"))")
        }
        if one.share.total != other.share.total {
            throw differ("the shards have different totals", one.name, other.name)
        }
        if one.crowdShare?.total != other.crowdShare?.total {
            throw differ("the crowd shares have different totals", one.name, other.name)
        }
        if one.division != other.division {
            throw differ(
                "the shards were divided differently (--timings)", Escaped.text(one.division),
                Escaped.text(other.division))
        }
    }

    /// Checks two files that both contain a case at the given position in the plan. Only files with shares of the same
    /// crowd may do so, and they must contain the same case at this position.
    ///
    /// - Throws: an error if the files belong to different shards, or if the cases differ.
    static func requireSame(
        _ item: PlannedCase, in file: ResultsFile, as known: PlannedCase, in owner: ResultsFile, place: Int
    ) throws(ResultsProblem) {
        if file.head.share != owner.head.share {
            throw ResultsProblem(
                "case \(Escaped.text(item.id)) is in two shards, so the shards were not divided in the same way: "
                    + "\(owner.name), \(file.name)"
            )
        }
        if item.key != known.key {
            throw ResultsProblem(
                "case \(place) of the plan is \(Escaped.text(known.id)) in \(owner.name), but "
                    + "\(Escaped.text(item.id)) in \(file.name)"
            )
        }
    }

    /// Returns the file of the last attempt of each shard, and remarks about the other attempts.
    static func lastAttempts(
        _ files: [ResultsFile]
    ) throws(ResultsProblem) -> (files: [ResultsFile], remarks: [String]) {
        var chosen: [ResultsFile] = []
        var remarks: [String] = []
        for file in files {
            guard
                let known = chosen.firstIndex(where: {
                    $0.head.share == file.head.share && $0.head.crowdShare == file.head.crowdShare
                })
            else {
                chosen.append(file)
                continue
            }
            let other = chosen[known]
            if file.isCopy(of: other) {
                throw ResultsProblem("\(file.head.name) is given twice: \(other.name), \(file.name)")
            }
            if file.head.attempt == other.head.attempt {
                throw ResultsProblem(
                    "\(file.head.name) is given twice, each as attempt \(file.head.attempt)\(verdicts(other, file)): "
                        + "\(other.name), \(file.name); remove one of these files. A later attempt replaces an "
                        + "earlier attempt only if the CI engine counts attempts, as Slurm, Buildkite, Cloud Run, AWS Batch and GitHub do"
                )
            }
            let (last, earlier) = file.head.attempt > other.head.attempt ? (file, other) : (other, file)
            chosen[known] = last
            remarks.append(
                "\(file.head.name): \(last.name) (attempt \(last.head.attempt)) replaces \(earlier.name) (attempt \(earlier.head.attempt))"
            )
        }
        chosen.sort { left, right in
            (left.head.share.index, left.head.crowdShare?.index ?? 1)
                < (right.head.share.index, right.head.crowdShare?.index ?? 1)
        }
        return (chosen, remarks)
    }

    /// Returns a description of the differences between two files of the same shard, for a message.
    private static func verdicts(_ one: ResultsFile, _ other: ResultsFile) -> String {
        var known: [CaseKey: Verdict] = [:]
        for entry in one.entries { known[one.planned[entry.item].item.key] = entry.verdict }
        let differing = other.entries.first { entry in
            known[other.planned[entry.item].item.key].map { $0 != entry.verdict } ?? false
        }
        guard let differing else { return "" }
        let item = other.planned[differing.item].item
        return
            ", with different verdicts (\(Escaped.text(item.id)): \(known[item.key]?.rawValue ?? ""), \(differing.verdict.rawValue))"
    }

    /// Checks that all shards are present.
    ///
    /// - Throws: an error if a shard is missing.
    static func requireAll(_ files: [ResultsFile]) throws(ResultsProblem) {
        guard let first = files.first else { return }
        let total = first.head.share.total
        let crowds = first.head.crowdShare?.total ?? 1
        var missing: [String] = []
        var known: Set<[Int]> = []
        for file in files { known.insert([file.head.share.index, file.head.crowdShare?.index ?? 1]) }
        let count = total * crowds - known.count
        if count == 0 { return }
        search: for shard in 1...total {
            for crowd in 1...crowds where !known.contains([shard, crowd]) {
                if missing.count == maxNamed { break search }
                missing.append(crowds == 1 ? "\(shard)" : total == 1 ? "\(crowd)" : "\(shard) (crowd share \(crowd))")
            }
        }
        let what = crowds > 1 && total == 1 ? "crowd share" : "shard"
        throw ResultsProblem(
            "\(ByteText.count(count, what)) of \(total * crowds) \(count == 1 ? "is" : "are") missing: \(missing.joined(separator: ", "))"
                + (count > missing.count ? " …" : "") + "; given: \(names(files))")
    }

    static func names(_ files: [ResultsFile]) -> String {
        files.prefix(maxNamed).map(\.name).joined(separator: ", ")
            + (files.count > maxNamed ? " and \(files.count - maxNamed) more" : "")
    }

    // MARK: Remarks

    /// Returns remarks about the start times. The shards of a run start at the same time or when an executor becomes
    /// available, so shards that started on different days probably belong to different runs.
    static func startRemarks(_ files: [ResultsFile]) -> [String] {
        let begun = files.compactMap { file in file.head.startedAt.map { (file: file, time: $0) } }
        guard let first = begun.min(by: { $0.time < $1.time }), let last = begun.max(by: { $0.time < $1.time }),
            last.time - first.time > secondsPerDay
        else { return [] }
        let days = ByteText.count(Int((last.time - first.time) / secondsPerDay), "day")
        return [
            "\(first.file.head.name) (\(first.file.name)) started \(days) before \(last.file.head.name) (\(last.file.name)): are they from the same run?"
        ]
    }

    static func interruptionRemarks(_ files: [ResultsFile]) -> [String] {
        files.compactMap { file in
            file.interruptionText.map { signal in
                "\(file.head.name) was interrupted (\(signal)), so the merged run is incomplete: \(file.name)"
            }
        }
    }
}
