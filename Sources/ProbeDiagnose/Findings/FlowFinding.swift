package import ProbeBase

/// How serious a finding is.
package enum FindingSeverity: String, Sendable, Comparable, CaseIterable {
    /// The connection failed, lost data, or was delayed seriously.
    case problem
    /// The connection is slower or riskier than it should be.
    case warning
    /// The finding is normal or harmless.
    case note

    /// Orders a more serious severity before a less serious one, so that it is listed first.
    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { self == .problem ? 0 : self == .warning ? 1 : 2 }
}

/// How certain a finding is.
package enum FindingCertainty: String, Sendable, Comparable, CaseIterable {
    /// The packets are not consistent with any other cause.
    case certain
    /// Other causes are possible, and are listed in the finding.
    case likely
    /// The packets are merely consistent with the cause.
    case possible

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { self == .certain ? 0 : self == .likely ? 1 : 2 }

    /// The next lower level of certainty.
    var weaker: Self { self == .certain ? .likely : .possible }
}

/// The place at which the problem described by a finding can be fixed.
package enum FindingSide: String, Sendable {
    case client, server, middlebox, capture
    case pathToClient = "path-to-client"
    case pathToServer = "path-to-server"

    init(_ side: ConversationSide) { self = side == .client ? .client : .server }

    /// Returns the path toward the given side, which receives the packets concerned.
    static func path(to side: ConversationSide) -> FindingSide { side == .client ? .pathToClient : .pathToServer }
}

/// A finding about one or more flows: what is unusual, the cause, and the evidence.
package struct FlowFinding: Sendable {
    package var id: FindingID
    package var severity: FindingSeverity
    package var certainty: FindingCertainty
    package var side: FindingSide
    /// The numbers of the packets that show the cause, counting from 1.
    package var evidence: [Int]
    /// A sentence that states the cause, including the relevant numbers.
    package var sentence: String
    /// The recommended next step.
    package var next: String
    /// Other causes that are consistent with the packets; empty if the finding is certain.
    package var rivals: [String]
    /// The numbers in the sentence. Times are in seconds.
    package var numbers: [(key: String, value: JSONValue)]
    /// The time that the finding explains, in nanoseconds.
    package var explained: Int64
    /// The id of the finding that explains this one; `nil` if there is none.
    package var suppressedBy: FindingID?
    /// The id of the finding about several flows of which this finding is a part; `nil` if there is none.
    package var partOf: FindingID?

    /// Returns whether `left` is listed before `right`. The most important finding is listed first.
    static func precedes(_ left: FlowFinding, _ right: FlowFinding) -> Bool {
        if left.severity != right.severity { return left.severity < right.severity }
        // What is wrong with the connection matters more than what is wrong with the capture.
        if left.id.isAboutCapture != right.id.isAboutCapture, left.severity != .note { return right.id.isAboutCapture }
        if left.certainty != right.certainty { return left.certainty < right.certainty }
        if left.explained != right.explained { return left.explained > right.explained }
        return Self.rank(left.id) < Self.rank(right.id)
    }

    private static func rank(_ id: FindingID) -> Int { FindingID.allCases.firstIndex(of: id) ?? 0 }
}
