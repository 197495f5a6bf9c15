import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The files of all shards of one run, put together: which results there are, in the order of the plan, and how the run ended.
package struct ResultsMerge: Sendable {
    /// Where a result is.
    private struct Place: Sendable {
        /// Into ``files``.
        var file: Int
        var entry: Int
        var place: Int
        var round: Int

        func isSameCase(as other: Place) -> Bool { place == other.place && round == other.round }
    }

    /// Those that count: one for each shard, or for each crowd share of it.
    private let files: [ResultsFile]
    /// Results that belong together, which are those of a crowd's shares, are neighbours.
    private var order: [Place] = []
    /// Shares of a crowd count as one.
    private var resultCount = 0
    /// Cases without any result.
    private var unrunCount = 0
    /// Every case of the plan, in order.
    package private(set) var planned: [PlannedCase] = []
    /// What `run` of the whole plan would have been told.
    package private(set) var options = ReportOptions()
    /// About the files: tries that were replaced, shards that were interrupted.
    package private(set) var remarks: [String] = []
    /// `--results` of the whole.
    package private(set) var head: ResultsHead
    private let end: ResultsEnd
    /// Sentences for the end of the run.
    package var notes: [String] { end.notes }

    /// - Parameter given: at least one.
    /// - Throws: what does not fit together, with the names of the files.
    package init(_ given: [ResultsFile]) throws(ResultsProblem) {
        guard let first = given.first else { throw ResultsProblem("there is no file of results") }
        for file in given.dropFirst() { try ResultsMerge.requireFit(file, first) }
        let (last, remarks) = try ResultsMerge.lastTries(given)
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

    /// `8 shards: 96 cases`
    package var title: String {
        let crowds = files.first?.head.crowdShare.map { ByteText.count($0.total, "crowd share") }
        let shards = files.first.map { ByteText.count($0.head.share.total, "shard") }
        return "\(crowds ?? shards ?? ""): \(ByteText.count(planned.count, "case"))"
    }

    /// How many results there were to be; `Int.max` for a run without end.
    private var expectedResults: Int {
        var most: [Int: Int] = [:]
        for file in files {
            guard let expected = file.head.expectedResults else { return .max }
            // The shares of a crowd run the same cases.
            most[file.head.share.index] = max(most[file.head.share.index] ?? 0, expected)
        }
        // A file that is wrong about it hides no case.
        return max(most.values.reduce(0, ResultsNumber.sum), resultCount + unrunCount)
    }

    /// Gives all events of the run, as if it had been one.
    ///
    /// - Parameter emit: gets an event, and its time in nanoseconds since the run began.
    /// - Throws: if a file changed while it was read.
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
        // What failed in a part can't be success of the whole.
        if summary.exitCode == 0 { summary.runErrors += files.compactMap(\.failureText) }
        emit(.ended(summary), max(time, end.duration))
    }

    /// - Parameter places: all results of one case in one round: one, or those of a crowd's shares.
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
            parts, lacks: lacks.map { CrowdShareMerge.Lack(files[$0], place: places.first?.place ?? 0) }
        ).result
    }

    // MARK: The cases

    /// Puts the cases in the order of the plan, in which one process would have run them: round by round.
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
                    throw ResultsProblem("the case \(Escaped.text(item.id)) has two places in the plan: \(file.name)")
                }
                var item = item
                if let share = file.head.crowdShare { item.rerun = CrowdShareMerge.whole(item.rerun, share) }
                owners[place] = (index, item)
            }
            for (number, entry) in file.entries.enumerated() {
                order.append(
                    Place(file: index, entry: number, place: file.planned[entry.item].place, round: entry.round))
                let (sum, overflow) = total.addingReportingOverflow(entry.duration)
                if overflow { throw ResultsProblem("\(file.name): the durations are too long to be true") }
                total = sum
            }
        }
        let missing = head.planCases - owners.count
        if missing > 0 {
            var first = 1
            while owners[first] != nil { first += 1 }
            throw ResultsProblem(
                "\(ByteText.count(missing, "case")) of the plan \(missing == 1 ? "is" : "are") in no shard, such as number \(first) of "
                    + "\(head.planCases): \(ResultsMerge.names(files))")
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
            // The shards ran at the same time, as far as is known.
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

    /// Each text once: every shard tells what is true of all.
    private static func distinct(_ texts: [String]) -> [String] {
        var known: Set<String> = []
        return texts.filter { known.insert($0).inserted }
    }
}
