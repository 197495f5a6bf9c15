package import ProbeEvents

/// What a file of results says before its cases: of which plan, which shard, which try.
package struct ResultsHead: Sendable, Equatable {
    /// The member `format` of every file of results.
    package static let format = "tcpprobe-results"
    /// Raised when a file could be misread by an older tool.
    package static let formatVersion = 1

    /// The tool's version.
    package var version = ""
    /// Of the whole plan: cases, scripts and options.
    package var planHash: String
    /// How many cases the whole plan has.
    package var planCases: Int
    /// How the plan was divided: shards that were divided otherwise do not fit together.
    package var division = ResultsHead.whole
    package var share = Share.whole
    /// The part of the members of crowds; nil: all of them.
    package var crowdShare: Share?
    /// The place in the whole plan of each case of this shard, from 1, in order.
    package var places: [Int]
    /// Which try of the shard this is, from 1.
    package var attempt = 1
    /// `--strict`
    package var isStrict = false
    package var hasSeveralSubjects = false
    /// Seconds since 1970 UTC; nil if it is not known.
    package var startedAt: Int64?
    /// How many results there were to be, in all rounds; nil: without end, or not known.
    package var expectedResults: Int?

    /// The division of a run that is not divided.
    package static let whole = "whole"

    package init(planHash: String, planCases: Int, places: [Int]) {
        (self.planHash, self.planCases, self.places) = (planHash, planCases, places)
    }

    /// `shard 3 of 8`, with the crowd share if there is one.
    package var name: String {
        let shard = "shard \(share.index) of \(share.total)"
        guard let crowdShare else { return shard }
        let crowd = "crowd share \(crowdShare.index) of \(crowdShare.total)"
        return share.isWhole ? crowd : "\(shard), \(crowd)"
    }
}

/// Why a file can't be used as results, or why several do not fit together. A sentence, in which names of files and texts from them are
/// escaped.
package struct ResultsProblem: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ text: String) { description = text }
}

/// How a run ended, as a file of results has it.
struct ResultsEnd: Sendable, Equatable {
    /// What the run said of itself; a merged run has none of it.
    var isComplete = true
    var exitCode: Int32 = 0
    var interruptedBy: Int32?
    /// Nanoseconds.
    var duration: Int64 = 0
    var packetsCaptured = 0
    var packetsDropped = 0
    var notes: [String] = []
    var runErrors: [String] = []
    var hasGivenUpSubject = false
    /// Results that did not come, because the run ended before.
    var notRun = 0
}
