package import ProbeEvents

/// The data of a file of results before its cases: the plan, the shard and the attempt.
package struct ResultsHead: Sendable, Equatable {
    /// The value of the member `format` in every file of results.
    package static let format = "tcpprobe-results"
    /// The version of the format, which is raised when an older tool could misread a file.
    package static let formatVersion = 1

    /// The tool's version.
    package var version = ""
    /// The hash of the whole plan: cases, scripts and options.
    package var planHash: String
    /// The number of cases in the whole plan.
    package var planCases: Int
    /// How the plan was divided: shards that were divided differently can't be merged.
    package var division = ResultsHead.whole
    package var share = Share.whole
    /// The share of the crowds' members; `nil` for all of them.
    package var crowdShare: Share?
    /// The place in the whole plan of each case of this shard, from 1, in order.
    package var places: [Int]
    /// The attempt of the shard, from 1.
    package var attempt = 1
    /// Whether `--strict` was given.
    package var isStrict = false
    package var hasSeveralSubjects = false
    /// The start in seconds since 1970 UTC; `nil` if it is not known.
    package var startedAt: Int64?
    /// The expected number of results, in all rounds; `nil` if it is unlimited or not known.
    package var expectedResults: Int?

    /// The division of a run that is not divided.
    package static let whole = "whole"

    package init(planHash: String, planCases: Int, places: [Int]) {
        (self.planHash, self.planCases, self.places) = (planHash, planCases, places)
    }

    /// The name, such as `shard 3 of 8`, with the crowd share if there is one.
    package var name: String {
        let shard = "shard \(share.index) of \(share.total)"
        guard let crowdShare else { return shard }
        let crowd = "crowd share \(crowdShare.index) of \(crowdShare.total)"
        return share.isWhole ? crowd : "\(shard), \(crowd)"
    }
}

/// The reason why a file can't be used as results, or why several files can't be merged. It is a sentence in which
/// names of files and texts from them are escaped.
package struct ResultsProblem: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ text: String) { description = text }
}

/// How a run ended, as recorded in a file of results.
struct ResultsEnd: Sendable, Equatable {
    /// Whether the run was not interrupted. A merged run computes it and the exit code anew.
    var isComplete = true
    var exitCode: Int32 = 0
    var interruptedBy: Int32?
    /// The duration in nanoseconds.
    var duration: Int64 = 0
    var packetsCaptured = 0
    var packetsDropped = 0
    var notes: [String] = []
    var runErrors: [String] = []
    var hasGivenUpSubject = false
    /// The number of results that are missing because the run ended early.
    var notRun = 0
}
