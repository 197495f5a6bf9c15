import ProbeBase
package import ProbeEvents
import ProbeScenario
package import ProbeWire

/// Judges wire statements on the capture of a run, using the notes that the run wrote into the capture.
///
/// A statement that names actors applies to the connection that the names referred to. A statement that is also a step
/// of the script is judged as the step was: on the same connection, and on the packets that had been captured by the
/// time of the step. As in the run, a statement applies to sent packets, or to received packets if it contains
/// `arrived`. All functions are pure.
package struct RunCheck {
    /// The part of the capture on which a statement is judged.
    package struct Scope: Hashable, Sendable {
        package var view: LinkView
        /// The times of the last packets to include, one for loopback and one for links; `nil` to include all packets.
        package var last: Last?

        package struct Last: Hashable, Sendable {
            package var onLoopback: UInt64
            package var onLinks: UInt64
        }
    }

    /// A single judgment: a check, and the connection and packets on which it is judged.
    package struct Task: Sendable {
        package var check: WireCheck
        package var scope: Scope
        var target: CaptureNotes.Target
        var statement: WireStatement<Resolved>
        package var step: String?

        /// The statement as an assertion, from which the memory limits for the analysis of the capture are derived.
        package var assertion: WireAssertion { statement.assertion(from: .client) }
    }

    let notes: CaptureNotes
    /// The view of links on which all statements are judged; `nil` to use the view that each statement requires.
    let view: LinkView?
    /// Whether all statements are judged on the whole capture, even statements that are also steps.
    let isOnWhole: Bool

    package init(notes: CaptureNotes, view: LinkView?, isOnWhole: Bool) {
        self.notes = notes
        self.view = view
        self.isOnWhole = isOnWhole
    }

    /// Returns the judgments that a check requires: one for each step that has the same text as the check, or a single
    /// judgment if there is no such step.
    package func tasks(_ check: WireCheck) -> [Task] {
        func scope(_ statement: WireStatement<Resolved>, _ last: Scope.Last?) -> Scope {
            Scope(view: view ?? (statement.isAboutArrivals ? .received : .sent), last: last)
        }
        if !isOnWhole, !check.moments.isEmpty {
            return check.moments.map { moment in
                let last = Scope.Last(onLoopback: moment.step.lastOnLoopback, onLinks: moment.step.lastOnLinks)
                return Task(
                    check: check, scope: scope(moment.statement, last), target: moment.step.target,
                    statement: moment.statement, step: moment.step.place)
            }
        }
        let names = check.statement.names.map(\.value)
        let target: CaptureNotes.Target =
            if names.isEmpty {
                .every(except: notes.connections.indices.filter { notes.connections[$0].isDiscarded })
            } else if names.contains(where: notes.names.contains) {
                target(of: names)
            } else {
                // The two sides of every flow are named `client` and `server`.
                .every(except: [])
            }
        return [
            Task(check: check, scope: scope(check.statement, nil), target: target, statement: check.statement)
        ]
    }

    /// Returns the connection that the given names refer to at the end of the case.
    private func target(of names: [String]) -> CaptureNotes.Target {
        func ends(_ holds: (CaptureNotes.Connection, ConversationSide, String) -> Bool) -> [CaptureNotes.Target] {
            notes.connections.indices.flatMap { number in
                [ConversationSide.client, .server].filter { side in
                    holds(notes.connections[number], side, names[0])
                        && (names.count < 2 || holds(notes.connections[number], side.opposite, names[1]))
                }.map { .end(number, $0) }
            }
        }
        let between = names.count > 1 ? "between \(names[0]) and \(names[1])" : "of \(names[0])"
        let certain = ends { $0.names(at: $1).contains($2) }
        if certain.count == 1 { return certain[0] }
        if certain.count > 1 {
            return .inconclusive("\(certain.count) connections \(between) were captured: the statement must name one")
        }
        if let earlier = earlierEnd(of: names) { return earlier }
        let possible = ends { $0.names(at: $1).contains($2) || $0.candidates(at: $1).contains($2) }
        return possible.isEmpty
            ? .nothing("no connection \(between) was seen on the wire")
            : .inconclusive("it is unknown which of the captured connections is \(between)")
    }

    /// Returns the earlier connection between two actors if one of them has connected again since, and the name of the
    /// other one still refers to the earlier connection.
    private func earlierEnd(of names: [String]) -> CaptureNotes.Target? {
        guard names.count > 1 else { return nil }
        for number in notes.connections.indices.reversed() {
            let connection = notes.connections[number]
            func binds(_ bound: String, _ side: ConversationSide, again: String) -> Bool {
                !notes.places.contains(bound) && connection.names(at: side).contains(bound)
                    && connection.earlier(at: side.opposite).contains(again)
            }
            for side in ConversationSide.allCases
            where binds(names[0], side, again: names[1]) || binds(names[1], side.opposite, again: names[0]) {
                return .end(number, side)
            }
        }
        return nil
    }

    // MARK: Judging

    /// Judges a task.
    ///
    /// - Parameters:
    ///   - inspection: the packets of the task's scope.
    ///   - arrivals: the packets of the task's scope as received; `nil` if the capture does not show which packets
    ///     arrived.
    package func outcomes(
        of task: Task, on inspection: Inspection, arrivals: () -> Inspection?, filter: ConnectionFilter
    ) -> [CheckRun.Outcome] {
        var outcomes: [CheckRun.Outcome]
        switch task.target {
        case .end(let number, let side): outcomes = [judge(task, number, side, inspection, arrivals)]
        case .every(let except): outcomes = judgeAll(task, except, inspection, arrivals, filter)
        case .nothing(let text):
            outcomes = [CheckRun.Outcome(verdict: .failed, check: task.check, failure: WireFailure(text))]
        case .inconclusive(let text):
            outcomes = [CheckRun.Outcome(verdict: .inconclusive, check: task.check, failure: WireFailure(text))]
        }
        for index in outcomes.indices { outcomes[index].step = task.step }
        return outcomes
    }

    private func judge(
        _ task: Task, _ number: Int, _ side: ConversationSide, _ inspection: Inspection, _ arrivals: () -> Inspection?
    ) -> CheckRun.Outcome {
        let connection = notes.connections[number]
        let conversations = inspection.analysis.table.conversations
        let found = conversations.indices.first { Key(conversations[$0]) == Key(connection) }
        let names = task.statement.names.map(\.value)
        let own = names.first ?? "\(side)"
        let peer =
            names.count > 1
            ? names[1]
            : connection.names(at: side.opposite).first ?? "\(side == .client ? connection.server : connection.client)"
        guard let found else {
            let text =
                task.statement.isAboutArrivals
                ? "no packet of the connection between \(own) and \(peer) has arrived"
                : "no packet of the connection between \(own) and \(peer) was captured"
            return CheckRun.outcome(
                task.check, name(number), .waiting(WireFailure(text)), CheckRun.doubt(about: inspection),
                isWhole: inspection.problem == nil)
        }
        let sides = side == .client ? SideNames(client: own, server: peer) : SideNames(client: peer, server: own)
        let verdict = verdict(task.statement.assertion(from: side), on: conversations, at: found, sides, arrivals)
        return CheckRun.outcome(
            task.check, name(found, conversations), verdict, CheckRun.doubt(about: inspection),
            isWhole: inspection.problem == nil)
    }

    private func judgeAll(
        _ task: Task, _ except: [Int], _ inspection: Inspection, _ arrivals: () -> Inspection?,
        _ filter: ConnectionFilter
    ) -> [CheckRun.Outcome] {
        let conversations = inspection.analysis.table.conversations
        let leftOut = Set(except.filter(notes.connections.indices.contains).map { Key(notes.connections[$0]) })
        let known = Dictionary(
            notes.connections.map { (Key($0), $0) }, uniquingKeysWith: { first, _ in first })
        let assertion = task.statement.assertion(
            from: task.statement.names.first?.value == "server" ? .server : .client)
        var outcomes: [CheckRun.Outcome] = []
        for flow in conversations.indices where filter.includes(flow, of: conversations) {
            let key = Key(conversations[flow])
            if let key, leftOut.contains(key) { continue }
            let connection = key.flatMap { known[$0] }
            let sides = SideNames(
                client: connection?.clientNames.first ?? "client", server: connection?.serverNames.first ?? "server")
            var verdict = verdict(assertion, on: conversations, at: flow, sides, arrivals)
            if verdict != .passed, let doubt = connection?.doubt { verdict = .inconclusive(doubt) }
            outcomes.append(
                CheckRun.outcome(
                    task.check, name(flow, conversations), verdict, CheckRun.doubt(about: inspection),
                    isWhole: inspection.problem == nil))
        }
        if let unfollowed = inspection.unfollowed(filter) {
            outcomes.append(
                CheckRun.Outcome(verdict: .inconclusive, check: task.check, failure: WireFailure(unfollowed)))
        }
        if !outcomes.isEmpty { return outcomes }
        return [
            CheckRun.outcome(
                task.check, nil, .waiting(WireFailure("no connection was seen on the wire")),
                CheckRun.doubt(about: inspection),
                isWhole: inspection.problem == nil)
        ]
    }

    /// Returns the verdict of an assertion. Retransmissions are compared with the packets that arrived, because the
    /// capture of a link shows which packets the link dropped.
    private func verdict(
        _ assertion: WireAssertion, on conversations: ConversationList, at position: Int, _ sides: SideNames,
        _ arrivals: () -> Inspection?
    ) -> WireVerdict {
        guard assertion.isAboutRetransmissions, conversations[position].hasDoubtfulRepeats,
            let key = Key(conversations[position]), let arrived = arrivals()?.analysis.table.conversations,
            let other = arrived.indices.first(where: { Key(arrived[$0]) == key })
        else { return conversations.judge(assertion, at: position, names: sides) }
        var conversation = conversations[position]
        conversation.settleRepeats(by: arrived[other])
        return conversation.judge(assertion, names: sides)
    }

    private func name(_ flow: Int, _ conversations: ConversationList) -> CheckRun.ConnectionName {
        let ends = conversations.endpoints(at: flow)
        return CheckRun.ConnectionName(number: flow, client: ends.client, server: ends.server)
    }

    private func name(_ number: Int) -> CheckRun.ConnectionName {
        let connection = notes.connections[number]
        return CheckRun.ConnectionName(number: number, client: connection.client, server: connection.server)
    }

    /// The values that identify a connection in several analyses of the same capture.
    private struct Key: Hashable {
        var client: SocketEndpoint
        var server: SocketEndpoint
        var sequence: UInt32

        init(_ connection: CaptureNotes.Connection) {
            (client, server, sequence) = (connection.client, connection.server, connection.sequence)
        }

        /// Creates the key of a connection; `nil` if its SYN was not captured.
        init?(_ conversation: borrowing Conversation) {
            guard let sequence = conversation.fromClient.initialSequence else { return nil }
            (client, server, self.sequence) = (conversation.client, conversation.server, sequence.value)
        }
    }
}
