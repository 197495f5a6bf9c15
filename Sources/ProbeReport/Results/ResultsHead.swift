package import ProbeEvents

/// The data that precedes the cases in a results file: the plan, the shard and the attempt.
package struct ResultsHead: Sendable, Equatable {
    /// The value of the member `format` in every results file.
    package static let format = "tcpprobe-results"
    /// The version of the format. It is incremented when an older version of the tool could misread a file.
    package static let formatVersion = 1

    /// The version of the tool.
    package var version = ""
    /// The hash of the whole plan, which comprises the cases, scripts and options.
    package var planHash: String
    /// The number of cases in the whole plan.
    package var planCases: Int
    /// How the plan was divided. Shards of different divisions can't be merged.
    package var division = ResultsHead.whole
    package var share = Share.whole
    /// The share of the members of each crowd; `nil` if the run contains all members.
    package var crowdShare: Share?
    /// The positions of this shard's cases in the whole plan, counted from 1, in ascending order.
    package var places: [Int]
    /// The number of the attempt to run the shard, from 1.
    package var attempt = 1
    /// Whether `--strict` was given.
    package var isStrict = false
    package var hasSeveralSubjects = false
    /// The start of the run in seconds since 1970 UTC; `nil` if it is not known.
    package var startedAt: Int64?
    /// The expected number of results in all rounds; `nil` if it is unlimited or unknown.
    package var expectedResults: Int?

    /// The value of ``division`` for a run that is not divided.
    package static let whole = "whole"

    package init(planHash: String, planCases: Int, places: [Int]) {
        (self.planHash, self.planCases, self.places) = (planHash, planCases, places)
    }

    /// The name of the shard, such as `shard 3 of 8`, including the crowd share if there is one.
    package var name: String {
        let shard = "shard \(share.index) of \(share.total)"
        guard let crowdShare else { return shard }
        let crowd = "crowd share \(crowdShare.index) of \(crowdShare.total)"
        return share.isWhole ? crowd : "\(shard), \(crowd)"
    }
}

/// The reason why a file can't be read as results, or why files can't be merged. The reason is a sentence in which file
/// names and quoted texts are escaped.
package struct ResultsProblem: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ text: String) { description = text }
}

/// How a run ended, as recorded in its results file.
struct ResultsEnd: Sendable, Equatable {
    /// Whether the run ended without an interruption. For a merged run, this value and the exit code are computed anew.
    var isComplete = true
    var exitCode: Int32 = 0
    var interruptedBy: Int32?
    /// The duration of the run in nanoseconds.
    var duration: Int64 = 0
    var packetsCaptured = 0
    var packetsDropped = 0
    var notes: [String] = []
    var runErrors: [String] = []
    var hasGivenUpSubject = false
    /// The number of results that are missing because the run ended early.
    var notRun = 0
}
