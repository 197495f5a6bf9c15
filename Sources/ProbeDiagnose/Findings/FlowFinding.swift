package import ProbeBase

/// How serious a finding is.
package enum FindingSeverity: String, Sendable, Comparable, CaseIterable {
    /// The connection failed, lost data, or was delayed seriously.
    case problem
    /// The connection is slower or riskier than it should be.
    case warning
    /// The finding is normal or harmless.
    case note

    /// A more serious severity is smaller, so that it is listed first.
    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { self == .problem ? 0 : self == .warning ? 1 : 2 }
}

/// How sure a finding is.
package enum FindingCertainty: String, Sendable, Comparable, CaseIterable {
    /// The packets allow no other cause.
    case certain
    /// Other causes are possible; the finding names them.
    case likely
    /// The packets are merely consistent with the cause.
    case possible

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { self == .certain ? 0 : self == .likely ? 1 : 2 }

    /// The next weaker level.
    var weaker: Self { self == .certain ? .likely : .possible }
}

/// Where to act on a finding.
package enum FindingSide: String, Sendable {
    case client, server, middlebox, capture
    case pathToClient = "path-to-client"
    case pathToServer = "path-to-server"

    init(_ side: ConversationSide) { self = side == .client ? .client : .server }

    /// The path towards the receiver of the packets concerned.
    static func path(to side: ConversationSide) -> FindingSide { side == .client ? .pathToClient : .pathToServer }
}

/// The cause of what is wrong with a connection.
package struct FlowFinding: Sendable {
    package var id: FindingID
    package var severity: FindingSeverity
    package var certainty: FindingCertainty
    package var side: FindingSide
    /// The numbers of the packets that show the cause, counting from 1.
    package var evidence: [Int]
    /// A sentence with numbers that states the cause.
    package var sentence: String
    /// What to do next.
    package var next: String
    /// Other causes that the packets allow. Empty only if the finding is certain.
    package var rivals: [String]
    /// The numbers in the sentence. Times are in seconds.
    package var numbers: [(key: String, value: JSONValue)]
    /// The time that the finding explains, in nanoseconds.
    package var explained: Int64
    /// The finding that explains this one, if any.
    package var suppressedBy: FindingID?
    /// The finding about several flows that this one is a part of.
    package var partOf: FindingID?

    /// The order of findings: the most important one first.
    static func precedes(_ left: FlowFinding, _ right: FlowFinding) -> Bool {
        if left.severity != right.severity { return left.severity < right.severity }
        if left.certainty != right.certainty { return left.certainty < right.certainty }
        if left.explained != right.explained { return left.explained > right.explained }
        return Self.rank(left.id) < Self.rank(right.id)
    }

    private static func rank(_ id: FindingID) -> Int { FindingID.allCases.firstIndex(of: id) ?? 0 }
}
