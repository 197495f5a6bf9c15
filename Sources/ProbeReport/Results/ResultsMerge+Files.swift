import ProbeBase
import ProbeEvents

/// Which files belong together, and which of them count.
extension ResultsMerge {
    /// Of a message, the most things that are named.
    private static let mostNamed = 10
    private static let secondsPerDay: Int64 = 86_400

    /// - Throws: if a file is not of the same plan as another.
    static func requireFit(_ file: ResultsFile, _ first: ResultsFile) throws(ResultsProblem) {
        func differ(_ what: String, _ one: String, _ other: String) -> ResultsProblem {
            ResultsProblem("\(what): \(one) in \(first.name), \(other) in \(file.name)")
        }
        let (one, other) = (first.head, file.head)
        if one.version != other.version {
            throw differ(
                "results of two versions of tcpprobe do not fit together", Escaped.text(one.version),
                Escaped.text(other.version))
        }
        if one.planHash != other.planHash || one.planCases != other.planCases {
            throw differ(
                "results of two plans do not fit together (other cases, scripts or options)",
                "plan \(Escaped.text(String(one.planHash.prefix(8)))) of \(ByteText.count(one.planCases, "case"))",
                "plan \(Escaped.text(String(other.planHash.prefix(8)))) of \(ByteText.count(other.planCases, "case"))")
        }
        if one.share.total != other.share.total {
            throw differ("the shards are of different totals", one.name, other.name)
        }
        if one.crowdShare?.total != other.crowdShare?.total {
            throw differ("the crowd shares are of different totals", one.name, other.name)
        }
        if one.division != other.division {
            throw differ(
                "the shards were divided differently (--timings)", Escaped.text(one.division),
                Escaped.text(other.division))
        }
    }

    /// - Throws: if a case of two files is not the same one in the shares of one crowd.
    static func requireSame(
        _ item: PlannedCase, in file: ResultsFile, as known: PlannedCase, in owner: ResultsFile, place: Int
    ) throws(ResultsProblem) {
        if file.head.share != owner.head.share {
            throw ResultsProblem(
                "the case \(Escaped.text(item.id)) is in two shards, so they were not divided in the same way: \(owner.name), \(file.name)"
            )
        }
        if item.key != known.key {
            throw ResultsProblem(
                "case \(place) of the plan is \(Escaped.text(known.id)) in \(owner.name), \(Escaped.text(item.id)) in \(file.name)"
            )
        }
    }

    /// Of each shard the last try.
    static func lastTries(
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
                    "\(file.head.name) is there twice, each as try \(file.head.attempt)\(verdicts(other, file)): \(other.name), \(file.name); "
                        + "remove one of them. A later try replaces an earlier one where the engine counts them: Slurm, Buildkite, "
                        + "Cloud Run, AWS Batch and GitHub do"
                )
            }
            let (last, earlier) = file.head.attempt > other.head.attempt ? (file, other) : (other, file)
            chosen[known] = last
            remarks.append(
                "\(file.head.name): \(last.name) (try \(last.head.attempt)) replaces \(earlier.name) (try \(earlier.head.attempt))"
            )
        }
        chosen.sort { left, right in
            (left.head.share.index, left.head.crowdShare?.index ?? 1)
                < (right.head.share.index, right.head.crowdShare?.index ?? 1)
        }
        return (chosen, remarks)
    }

    /// What differs in two files of one shard, for a message.
    private static func verdicts(_ one: ResultsFile, _ other: ResultsFile) -> String {
        var known: [CaseKey: Verdict] = [:]
        for entry in one.entries { known[one.planned[entry.item].item.key] = entry.verdict }
        let differing = other.entries.first { entry in
            known[other.planned[entry.item].item.key].map { $0 != entry.verdict } ?? false
        }
        guard let differing else { return "" }
        let item = other.planned[differing.item].item
        return
            ", with other verdicts (\(Escaped.text(item.id)): \(known[item.key]?.rawValue ?? ""), \(differing.verdict.rawValue))"
    }

    /// - Throws: if a shard is missing.
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
                if missing.count == mostNamed { break search }
                missing.append(crowds == 1 ? "\(shard)" : total == 1 ? "\(crowd)" : "\(shard) (crowd share \(crowd))")
            }
        }
        let what = crowds > 1 && total == 1 ? "crowd share" : "shard"
        throw ResultsProblem(
            "\(ByteText.count(count, what)) of \(total * crowds) \(count == 1 ? "is" : "are") missing: \(missing.joined(separator: ", "))"
                + (count > missing.count ? " …" : "") + "; given: \(names(files))")
    }

    static func names(_ files: [ResultsFile]) -> String {
        files.prefix(mostNamed).map(\.name).joined(separator: ", ")
            + (files.count > mostNamed ? " and \(files.count - mostNamed) more" : "")
    }

    // MARK: Remarks

    /// Shards of one run begin together, or as an engine has room for them, but hardly on different days.
    static func startRemarks(_ files: [ResultsFile]) -> [String] {
        let begun = files.compactMap { file in file.head.startedAt.map { (file: file, time: $0) } }
        guard let first = begun.min(by: { $0.time < $1.time }), let last = begun.max(by: { $0.time < $1.time }),
            last.time - first.time > secondsPerDay
        else { return [] }
        let days = ByteText.count(Int((last.time - first.time) / secondsPerDay), "day")
        return [
            "\(first.file.head.name) (\(first.file.name)) was begun \(days) before \(last.file.head.name) (\(last.file.name)): are they of one run?"
        ]
    }

    static func interruptionRemarks(_ files: [ResultsFile]) -> [String] {
        files.compactMap { file in
            file.interruptionText.map { signal in
                "\(file.head.name) was interrupted (\(signal)), so the whole is not complete: \(file.name)"
            }
        }
    }
}
