import ProbeBase
import ProbeWire

/// A finding that concerns several flows.
package struct SharedFinding: Sendable {
    package var finding: FlowFinding
    /// The numbers of the flows that the finding concerns.
    package var flows: [Int]
}

/// Finds causes that affect several flows of a capture.
struct SharedFindings {
    private let flows: [FlowDiagnosis]
    private let stalls: [StallWatch.Stall]
    private var found: [SharedFinding] = []

    init(_ flows: [FlowDiagnosis], _ stalls: [StallWatch.Stall]) {
        self.flows = flows.sorted { $0.start < $1.start }
        self.stalls = stalls
    }

    /// Finds the causes that affect several flows, and marks each finding in `diagnoses` that is a part of a finding
    /// about several flows.
    consuming func apply(to diagnoses: inout [FlowDiagnosis]) -> [SharedFinding] {
        findFlood()
        findScatteredFlood()
        findScans()
        findStorm()
        findRefusals()
        findReuse()
        findSlowServer()
        findStalls()
        let places = Dictionary(uniqueKeysWithValues: diagnoses.indices.map { (diagnoses[$0].number, $0) })
        for shared in found {
            let parts = Self.parts(of: shared.finding.id)
            for index in shared.flows.compactMap({ places[$0] }) {
                for place in diagnoses[index].findings.indices
                where parts.contains(diagnoses[index].findings[place].id)
                    && diagnoses[index].findings[place].partOf == nil
                {
                    diagnoses[index].findings[place].partOf = shared.finding.id
                }
            }
        }
        return found.sorted { left, right in
            if FlowFinding.precedes(left.finding, right.finding) { return true }
            if FlowFinding.precedes(right.finding, left.finding) { return false }
            return (left.flows.first ?? 0) < (right.flows.first ?? 0)
        }
    }

    /// The findings of a flow that a cause common to several flows includes.
    static func parts(of id: FindingID) -> Set<FindingID> {
        switch id {
        case .reconnectStorm, .connectionsRefusedUnderLoad, .synFlood:
            [.refused, .noAnswer, .resetByServer, .resetByClient, .synLost, .wrongSYNAnswer]
        case .portReuse: [.refused, .noAnswer, .wrongSYNAnswer]
        case .portScan: [.refused, .noAnswer]
        case .oneServerSlow: [.slowServer]
        case .allFlowsStall: [.timeoutStall, .loss, .tailLoss, .slowServer, .slowClient]
        default: []
        }
    }

    private mutating func add(
        _ id: FindingID, _ severity: FindingSeverity, _ certainty: FindingCertainty, _ side: FindingSide,
        _ flows: [FlowDiagnosis], _ sentence: String, next: String, rivals: [String] = [],
        numbers: [(key: String, value: JSONValue)] = [], explains time: Int64 = 0
    ) {
        var evidence = Evidence()
        for flow in flows { evidence.add(flow.outcome.firstPacket) }
        found.append(
            SharedFinding(
                finding: FlowFinding(
                    id: id, severity: severity, certainty: certainty, side: side, evidence: evidence.packets,
                    sentence: sentence, next: next, rivals: rivals, numbers: numbers, explained: time),
                flows: flows.map(\.number)))
    }

    private static func elapsed(_ a: FlowDiagnosis, _ b: FlowDiagnosis) -> Int64 {
        DurationText.difference(from: a.start, to: b.start)
    }

    /// Returns the longest run of consecutive flows in which any `count` successive flows begin within a period of the
    /// given length; `nil` if there is no such run.
    private static func burst(_ flows: [FlowDiagnosis], of count: Int, within time: Int64) -> ArraySlice<FlowDiagnosis>?
    {
        guard flows.count >= count else { return nil }
        var best: Range<Int>?
        var start: Int?
        for first in 0...flows.count - count {
            if elapsed(flows[first], flows[first + count - 1]) <= time {
                start = start ?? first
                let range = (start ?? first)..<first + count
                if range.count > best?.count ?? 0 { best = range }
            } else if let begin = start, begin + count <= first {
                start = nil
            }
        }
        return best.map { flows[$0] }
    }

    private mutating func findFlood() {
        for (server, group) in Dictionary(grouping: flows.filter(\.outcome.hasSYN), by: \.server) {
            guard let burst = Self.burst(group, of: 100, within: Time.second) else { continue }
            let failed = burst.count { !$0.outcome.isEstablished }
            guard failed * 5 >= burst.count * 4 else { continue }
            add(
                .synFlood, .problem, .likely, .client, Array(burst),
                "\(burst.count) SYNs to \(server) arrived at 100 per second or more, and \(failed) of the connections were never completed.",
                next:
                    "check whether the clients are genuine; enable SYN cookies (`sysctl net.ipv4.tcp_syncookies`) and limit the rate in front of the server",
                rivals: ["a load test", "a port scan", "many clients that lost their answers"],
                numbers: [("syns", .integer(burst.count)), ("incomplete", .integer(failed))])
        }
    }

    /// Finds a flood with false addresses that is not directed to a single port.
    private mutating func findScatteredFlood() {
        let attempts = flows.filter(\.outcome.hasSYN)
        guard !found.contains(where: { $0.finding.id == .synFlood }),
            let burst = Self.burst(attempts, of: 100, within: Time.second)
        else { return }
        let unanswered = burst.count { $0.outcome.isUnanswered }
        let addresses = Set(burst.lazy.map(\.client.address)).count
        guard unanswered * 5 >= burst.count * 4, addresses * 2 >= burst.count else { return }
        add(
            .synFlood, .problem, .likely, .client, Array(burst),
            "\(burst.count) SYNs from \(addresses) addresses were sent at 100 per second or more, and \(unanswered) of them were not answered.",
            next:
                "check whether the addresses are genuine, and find the machine that sends the SYNs, for example by its MAC address",
            rivals: ["many clients that lost their answers", "a capture of only one direction"],
            numbers: [
                ("syns", .integer(burst.count)), ("addresses", .integer(addresses)),
                ("incomplete", .integer(unanswered)),
            ])
    }

    /// Finds clients that try many ports of one host.
    private mutating func findScans() {
        let groups = Dictionary(grouping: flows.filter(\.outcome.hasSYN)) {
            "\($0.client.address) \($0.server.address)"
        }
        for group in groups.values {
            let failed = group.filter { $0.outcome.isRefused || $0.outcome.isUnanswered }
            var ports: Set<UInt16> = []
            let attempts = failed.filter { ports.insert($0.server.port).inserted }
            guard let burst = Self.burst(attempts, of: 10, within: 60 * Time.second), let first = burst.first else {
                continue
            }
            let accepted = Set(group.lazy.filter(\.outcome.isEstablished).map(\.server.port)).count
            guard accepted * 2 <= burst.count else { continue }
            let scanned = Set(burst.lazy.map(\.server.port))
            let members = failed.filter { scanned.contains($0.server.port) }
            let refused = Set(members.lazy.filter(\.outcome.isRefused).map(\.server.port)).count
            let span = Self.elapsed(first, burst[burst.endIndex - 1])
            add(
                .portScan, .problem, .likely, .client, members,
                "\(first.client.address) tried \(burst.count) ports of \(first.server.address) in \(DurationText.text(nanoseconds: span)): \(refused) were refused, and \(burst.count - refused) not answered.",
                next:
                    "find out which program on \(first.client.address) connects to these ports, and whether it is permitted to",
                rivals: ["a client that looks for a service", "a server whose programs have all stopped"],
                numbers: [
                    ("ports", .integer(burst.count)), ("refused", .integer(refused)),
                    ("span", .seconds(nanoseconds: span)),
                ])
        }
    }

    private mutating func findStorm() {
        let groups = Dictionary(grouping: flows.filter(\.outcome.hasSYN)) { "\($0.client.address) \($0.server)" }
        for group in groups.values {
            let failed = Self.successors(
                in: group.filter { $0.outcome.failedAfter.map { $0 <= Time.second } ?? false })
            // `traceroute` sends SYNs with rising hop limits.
            guard Set(failed.compactMap(\.outcome.probedHops)).count < 3 else { continue }
            guard let burst = Self.burst(failed, of: 10, within: 10 * Time.second), let first = burst.first else {
                continue
            }
            guard !found.contains(where: { $0.finding.id == .synFlood && $0.flows.contains(first.number) }) else {
                continue
            }
            let span = Self.elapsed(first, burst[burst.endIndex - 1])
            add(
                .reconnectStorm, .problem, .certain, .client, Array(burst),
                "\(first.client.address) connected to \(first.server) \(burst.count) times in \(DurationText.text(nanoseconds: span)), and each connection failed within a second.",
                next:
                    "make the client wait longer after each failure (exponential back-off with jitter), and look at why the connections fail",
                numbers: [("connections", .integer(burst.count)), ("span", .seconds(nanoseconds: span))],
                explains: span)
        }
    }

    /// Returns the first of the failed flows, and those that may be reactions to the failure of an earlier one: there are
    /// not more of them than failures before them. Connections that are opened at the same time are no reactions. The
    /// flows are in the order of time.
    private static func successors(in flows: [FlowDiagnosis]) -> [FlowDiagnosis] {
        guard let first = flows.first else { return [] }
        let failures = flows.map { elapsed(first, $0) + ($0.outcome.failedAfter ?? 0) }.sorted()
        var (used, next) = (0, 0)
        return flows.enumerated().filter { index, flow in
            while next < failures.count, failures[next] <= elapsed(first, flow) { next += 1 }
            guard index > 0 else { return true }
            guard used < next else { return false }
            used += 1
            return true
        }.map(\.element)
    }

    private mutating func findRefusals() {
        // After a step of the clock, connections only seem to begin at the same time.
        guard flows.allSatisfy(\.outcome.isClockReliable) else { return }
        for (server, group) in Dictionary(grouping: flows.filter(\.outcome.hasSYN), by: \.server) {
            let accepted = group.filter(\.outcome.isEstablished)
            let failed = Self.near(
                accepted, among: group.filter { $0.outcome.isRefused || $0.outcome.isUnanswered }, within: Time.second)
            guard failed.count >= 3 else { continue }
            add(
                .connectionsRefusedUnderLoad, .problem, .likely, .server, failed,
                "\(server) refused or ignored \(failed.count) connections while it accepted \(accepted.count) others.",
                next:
                    "check the accept queue of \(server) (`ss -ltn`, `nstat -az TcpExtListenDrops`), its limit on descriptors, and limits on the number of connections",
                rivals: ["a firewall that limits the rate of connections", "several servers behind one address"],
                numbers: [("failed", .integer(failed.count)), ("accepted", .integer(accepted.count))])
        }
    }

    /// Returns the flows that begin within `time` of one of the others. Both lists are in the order of time.
    private static func near(_ others: [FlowDiagnosis], among flows: [FlowDiagnosis], within time: Int64)
        -> [FlowDiagnosis]
    {
        var next = 0
        return flows.filter { flow in
            while next < others.count, elapsed(others[next], flow) > time { next += 1 }
            return next < others.count && elapsed(flow, others[next]) <= time
        }
    }

    private mutating func findReuse() {
        let groups = Dictionary(grouping: flows.filter(\.outcome.hasSYN)) { "\($0.client) \($0.server)" }
        for group in groups.values {
            var reused: [FlowDiagnosis] = []
            var shortest = Int64.max
            var hasFailed = false
            for (earlier, later) in zip(group, group.dropFirst()) {
                guard let closed = earlier.outcome.closedAt else { continue }
                let gap = Self.elapsed(earlier, later) - closed
                guard 0...60 * Time.second ~= gap else { continue }
                if reused.last?.number != earlier.number { reused.append(earlier) }
                reused.append(later)
                shortest = min(shortest, gap)
                hasFailed = hasFailed || !later.outcome.isEstablished
            }
            guard let first = reused.first else { continue }
            add(
                .portReuse, hasFailed ? .warning : .note, .certain, .client, reused,
                "\(first.client) was used again \(DurationText.text(nanoseconds: shortest)) after its connection to \(first.server) was closed\(hasFailed ? ", and the new connection failed" : "").",
                next: "let the client choose its port, or keep connections open instead of reconnecting",
                numbers: [("gap", .seconds(nanoseconds: shortest))])
        }
    }

    private mutating func findSlowServer() {
        let groups = Dictionary(grouping: flows, by: \.server).mapValues { group in
            (
                flows: group, count: group.reduce(0) { $0 + $1.outcome.answerCount },
                median: group.flatMap(\.outcome.answers).sorted().median ?? 0
            )
        }.filter { $0.value.count >= 5 }
        guard groups.count >= 3 else { return }
        let medians = groups.values.map(\.median).sorted()
        guard let slowest = medians.dropLast().last else { return }
        for (server, group) in groups where group.median > slowest {
            guard group.median >= 200 * Time.millisecond, group.median / 5 >= slowest else { continue }
            add(
                .oneServerSlow, .warning, .likely, .server, group.flows,
                "\(server) answers more slowly than the \(groups.count - 1) other servers: its median is \(DurationText.text(nanoseconds: group.median)), theirs at most \(DurationText.text(nanoseconds: slowest)).",
                next: "compare the load and the configuration of \(server) with those of the other servers",
                rivals: ["requests that differ", "a longer path"],
                numbers: [
                    ("median", .seconds(nanoseconds: group.median)),
                    ("others-median", .seconds(nanoseconds: slowest)), ("answers", .integer(group.count)),
                ],
                explains: group.median)
        }
    }

    private mutating func findStalls() {
        for stall in stalls {
            let members = flows.filter { stall.active.contains($0.number) }
            guard members.count >= 3 else { continue }
            let time = DurationText.difference(from: stall.start, to: stall.end)
            let hasLosses = members.contains { flow in flow.findings.contains { $0.id == .captureDroppedPackets } }
            add(
                .allFlowsStall, .warning, .likely, hasLosses ? .capture : .pathToServer, members,
                "All \(members.count) active flows stalled together for \(DurationText.text(nanoseconds: time)), and went on together.",
                next:
                    "look for a pause of a machine or link that they share (a virtual machine that was paused, a switch, a Wi-Fi roam)",
                rivals: ["a pause of the machine that captured", "a client that paused"],
                numbers: [("stall", .seconds(nanoseconds: time)), ("active-flows", .integer(members.count))],
                explains: time)
        }
    }
}

extension [Int64] {
    /// The median of the numbers, which must be sorted; `nil` if there are none.
    fileprivate var median: Int64? { isEmpty ? nil : self[count / 2] }
}
