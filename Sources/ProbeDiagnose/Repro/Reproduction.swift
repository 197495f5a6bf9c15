package import ProbeBase

/// A scenario that recreates the condition of a finding, with a client and a server of the harness on the two ends of
/// a link.
///
/// The finding's numbers are scaled down: the scenario takes as long as the finding's severity requires, and a wait of
/// an hour is recreated by one that is just long enough.
package struct Reproduction: Sendable {
    package let id: FindingID
    package let severity: FindingSeverity
    package let side: FindingSide
    private let script: ReproductionScript

    /// Creates the scenario for a finding.
    ///
    /// - Throws: the reason why the language can't recreate the condition.
    package init(_ finding: FlowFinding) throws(ReproductionObstacle) {
        if let obstacle = ReproductionObstacle(finding.id) { throw obstacle }
        id = finding.id
        severity = finding.severity
        side = finding.side
        let condition = RecreatedCondition(finding)
        script =
            condition.setUp ?? condition.window ?? condition.loss ?? condition.wait ?? condition.tls ?? condition.close
            ?? ReproductionScript("")
        guard !script.steps.isEmpty else {
            throw ReproductionObstacle(reason: "this version of tcpprobe has no scenario for it")
        }
    }

    /// The end of the link at which the finding shows: the client is on the left, the server on the right.
    package var end: ConversationSide { script.end }

    /// The time that the scenario's steps wait in all.
    package var waits: Duration { .milliseconds(script.milliseconds) }

    /// Returns the text of the scenario.
    ///
    /// - Parameters:
    ///   - origin: where the finding was found, such as `flow 3 of a.pcap`.
    ///   - sentence: the sentence of the finding.
    package func text(origin: String, sentence: String) -> String {
        script.text(origin: origin, sentence: sentence, side)
    }

    /// Returns the first of the flows that shows the same finding as its most important one; `nil` if none does.
    package func flow(in flows: [FlowDiagnosis]) -> FlowDiagnosis? {
        flows.first { flow in
            flow.findings.first.map { $0.id == id && $0.severity == severity && $0.side == side } ?? false
        }
    }

    /// Returns a clause that says what the flows show instead of the finding.
    package func difference(in flows: [FlowDiagnosis]) -> String {
        let all = flows.flatMap { flow in flow.findings.enumerated().map { (rank: $0.offset, finding: $0.element) } }
        if let found = all.first(where: { $0.finding.id == id }) {
            if found.finding.severity != severity {
                return
                    "its capture shows \(id.rawValue) as a \(found.finding.severity.rawValue), not as a \(severity.rawValue)"
            }
            if found.finding.side != side {
                return
                    "its capture shows \(id.rawValue) with the side \(found.finding.side.rawValue), not \(side.rawValue)"
            }
        }
        guard let first = all.filter({ $0.rank == 0 }).map(\.finding).min(by: FlowFinding.precedes) else {
            return "its capture has no finding"
        }
        return "its capture shows \(first.id.rawValue) instead: \(first.sentence)"
    }
}

/// The reason why the condition of a finding can't be recreated by a scenario.
package struct ReproductionObstacle: Error, Sendable, Equatable {
    package let reason: String

    init(reason: String) { self.reason = reason }

    /// Returns the obstacle for a finding; `nil` if there is a scenario for it.
    package init?(_ id: FindingID) {
        switch id {
        case .wrongSYNAnswer:
            reason = "a scenario can't choose the client's port, so the server never knows an old connection from it"
        case .fastOpenRejected: reason = "the clients of a scenario don't send data in a SYN"
        case .sackReneging: reason = "Linux never drops data that it has reported as received"
        case .duplicatePackets:
            reason = "the capture at an end of a link omits the copies of packets that the link itself made"
        case .captureDroppedPackets, .oneDirection, .snapLength, .startsInTheMiddle, .offload, .capturedTwice,
            .clockStepped:
            reason = "it is a property of the capture, not of the connection, and the capture of a run is complete"
        case .reconnectStorm, .portReuse, .connectionsRefusedUnderLoad, .oneServerSlow, .allFlowsStall, .synFlood,
            .portScan:
            reason = "it concerns several connections"
        default: return nil
        }
    }
}

/// A finding whose condition is recreated.
///
/// Each family of findings has an extension of this type with a property that returns the scenario, or `nil` for a
/// finding of another family.
struct RecreatedCondition {
    let id: FindingID
    let severity: FindingSeverity
    private let side: FindingSide
    private let numbers: [(key: String, value: JSONValue)]

    init(_ finding: FlowFinding) {
        (id, severity, side) = (finding.id, finding.severity, finding.side)
        numbers = finding.numbers
    }

    /// The endpoint to act on, or the receiver of the packets that the path lost.
    var place: ConversationSide {
        switch side {
        case .client, .pathToClient: .client
        case .server, .pathToServer, .middlebox, .capture: .server
        }
    }

    /// Returns a count or a size of the finding, limited to a range; the range's lower bound if it is missing.
    func count(_ key: String, in range: ClosedRange<Int>) -> Int {
        guard let number = numbers.first(where: { $0.key == key })?.value.integer else { return range.lowerBound }
        return min(max(number, range.lowerBound), range.upperBound)
    }

    /// Returns a word of the finding, such as the reason of a reset.
    func text(_ key: String) -> String? { numbers.first { $0.key == key }?.value.text }

    /// Returns a time of the finding in milliseconds, limited to a range; the range's lower bound if it is missing.
    func milliseconds(_ key: String, in range: ClosedRange<Int>) -> Int {
        guard case .seconds(let time)? = numbers.first(where: { $0.key == key })?.value else { return range.lowerBound }
        return min(max(Int(clamping: time / Time.millisecond), range.lowerBound), range.upperBound)
    }
}
