import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Judges statements about the wire on the basis of the packets captured so far.
struct WireJudge {
    let names: WireNames
    /// Whether to judge the packets that arrived rather than the packets that were sent.
    var isAboutArrivals = false

    /// Judges a statement.
    ///
    /// - Throws: an error if the statement's names do not identify a single connection.
    func judge(_ statement: WireStatement<Resolved>) throws(Finding) -> WireVerdict {
        if case .arrived(let statement) = statement {
            return try WireJudge(names: names, isAboutArrivals: true).judge(statement)
        }
        guard case .connection(let from, let to) = statement.subject else {
            return judgeEverywhere(statement.assertion(from: .client))
        }
        guard let end = try connection(from, to) else { return nothing(from, to) }
        return judge(
            statement.assertion(from: end.side), end,
            to.map { sideNames(from, $0, end.side) } ?? names.names(end.index))
    }

    /// Returns the target of a statement, for the notes in the capture file.
    func target(of statement: WireStatement<Resolved>, _ verdict: WireVerdict) -> CaptureNotes.Target {
        switch statement.subject {
        case .connection(let from, let to): target(from, to, verdict)
        case .every: .every(except: names.notJudged)
        }
    }

    private func target(_ from: Name, _ to: Name?, _ verdict: WireVerdict) -> CaptureNotes.Target {
        let found = names.ends(from.value, to?.value, isCertain: true)
        if found.count == 1 { return .end(found[0].index, found[0].side) }
        switch verdict {
        case .inconclusive(let reason): return .inconclusive(reason)
        case .waiting(let failure), .failed(let failure): return .nothing(failure.summary)
        case .passed: return .inconclusive("the statement did not identify a single connection")
        }
    }

    /// Judges one connection by the packets that were sent or by the packets that arrived.
    private func judge(_ assertion: WireAssertion, _ end: WireEnd, _ sides: SideNames) -> WireVerdict {
        guard isAboutArrivals else { return conversation(end.index, for: assertion).judge(assertion, names: sides) }
        guard let position = names.arrived.position(of: names.traffic.numbers[end.index]) else {
            return .waiting(
                WireFailure("nothing arrived on the connection between \(sides.client) and \(sides.server)"))
        }
        return names.arrived[conversation: position].judge(assertion, names: sides)
    }

    /// Returns a connection with the packets that were sent. Retransmitted segments are compared with the packets that
    /// arrived, which show what the link dropped.
    private func conversation(_ index: Int, for assertion: WireAssertion) -> Conversation {
        var conversation = names.traffic[conversation: index]
        guard assertion.isAboutRetransmissions, conversation.hasDoubtfulRepeats,
            let position = names.arrived.position(of: names.traffic.numbers[index])
        else { return conversation }
        conversation.settleRepeats(by: names.arrived[conversation: position])
        return conversation
    }

    /// Judges all connections of the case. A failure on a connection that may have another owner is inconclusive.
    private func judgeEverywhere(_ assertion: WireAssertion) -> WireVerdict {
        var verdicts: [WireVerdict] = []
        for index in names.judged {
            let verdict = conversation(index, for: assertion).judge(assertion, names: names.names(index))
            if verdict != .passed, !names.listens(atServerOf: index),
                let candidates = names.binding.candidates[index], candidates.count > 1
            {
                verdicts.append(.inconclusive(doubt(about: candidates, index)))
            } else {
                verdicts.append(verdict)
            }
        }
        if verdicts.isEmpty { return .waiting(WireFailure("no connection was seen on the wire")) }
        // A failure takes precedence over an inconclusive verdict. An inconclusive verdict takes precedence over a
        // verdict that may still become a pass.
        return verdicts.first { if case .failed = $0 { true } else { false } }
            ?? verdicts.first { if case .inconclusive = $0 { true } else { false } }
            ?? verdicts.first { if case .waiting = $0 { true } else { false } } ?? .passed
    }

    /// Returns the connection to which two names refer, represented by the connection end that belongs to the first
    /// name.
    private func connection(_ from: Name, _ to: Name?) throws(Finding) -> WireEnd? {
        let found = names.ends(from.value, to?.value, isCertain: true)
        if found.count > 1 {
            let between = to.map { "between \(from.value) and \($0.value)" } ?? "of \(from.value)"
            throw Finding(
                .error, "\(found.count) connections \(between) were seen, but the statement must identify one",
                hints: ["name the connection with `accept as A`, and use `wire A -> …`"])
        }
        return found.first
    }

    private func nothing(_ from: Name, _ to: Name?) -> WireVerdict {
        let between = to.map { "between \(from.value) and \($0.value)" } ?? "of \(from.value)"
        if !isCaptured(from) {
            return .inconclusive(
                "the connection \(between) can't be seen: it is neither on loopback nor on a link, or there is no capture"
            )
        }
        // The only connection to which the names may refer might also belong to another actor.
        if let end = names.ends(from.value, to?.value, isCertain: false).first {
            return .inconclusive(doubt(about: names.binding.candidates[end.index] ?? [], end.index))
        }
        return .waiting(WireFailure("no connection \(between) was seen on the wire"))
    }

    func doubt(about candidates: Set<String>, _ index: Int) -> String {
        let opening = names.traffic.openings[index]
        if candidates.isEmpty {
            return
                "a connection to \(opening.server) was reset before it was accepted, so it is unknown which "
                + "connection was accepted"
        }
        return
            "the connection \(opening.client) -> \(opening.server) may belong to "
            + "\(candidates.sorted().joined(separator: " or ")): each of these actors could have opened the "
            + "connection at that time"
    }

    /// Whether the connection to which a name refers is captured.
    private func isCaptured(_ name: Name) -> Bool {
        guard case .connection(let actor)? = names.actors[name.value], let peer = actor.connection?.peer else {
            return true
        }
        return names.sees(peer)
    }

    private func sideNames(_ from: Name, _ to: Name, _ side: ConversationSide) -> SideNames {
        side == .client
            ? SideNames(client: from.value, server: to.value, origin: names.origin)
            : SideNames(client: to.value, server: from.value, origin: names.origin)
    }
}

extension WireStatement<Resolved> {
    var description: String {
        switch self {
        case .halfConnection(let from, let to, _): "packets from \(from.value) to \(to.value)"
        case .fin(let name, _): "a FIN from \(name.value)"
        case .rst(let name, _): "an RST from \(name.value)"
        case .closedFirst(let name): "\(name.value) to close first"
        case .noReset, .handshakeComplete, .noRetransmission, .packets: "packets"
        case .arrived(let statement): "\(statement.description), on arrival"
        }
    }
}
