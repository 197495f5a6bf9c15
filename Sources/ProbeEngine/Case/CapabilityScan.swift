import ProbeBase
import ProbeScenario
import ProbeTransport

/// The capabilities that a scenario requires of its subject, each with the location in the script that requires it.
struct CapabilityScan {
    private(set) var needed: [(TransportCapability, SourceSpan)] = []
    /// The framings that the subject must support: the scenario's framing, and the framings that steps change to.
    private(set) var framings: [(Framing, SourceSpan)] = []
    /// Whether a step requests a read from a subject.
    private(set) var asksToRead = false
    /// The first step that sends bytes to a subject, as far as the script shows.
    private(set) var firstPeerSend: SourceSpan?
    /// The first step that expects a subject to report that the peer has ended the connection, although no requested
    /// read is outstanding.
    private(set) var firstUnaskedEnd: SourceSpan?
    /// Whether a step measures the resource usage of the subject's program.
    private(set) var measures = false
    /// The first step that measures resource usage and that the script can't avoid by taking another branch.
    private(set) var firstMeasure: SourceSpan?
    /// For each subject, the number of reads whose results no `expect` has consumed, as far as the script shows.
    private var openReads: [String: Int] = [:]
    /// For each subject, the framing that a step has set most recently.
    private var framingBySubject: [String: Framing] = [:]
    /// The subjects that were asked to stop, so the ends of their connections are not attributed to the peer.
    private var askedToStop: Set<String> = []
    private let scenario: Scenario

    init(_ scenario: Scenario) {
        self.scenario = scenario
        for declaration in scenario.actors {
            guard case .subject(let target, let options) = declaration.kind else { continue }
            if framings.isEmpty { framings.append((scenario.framing, declaration.span)) }
            if scenario.framing == .websocket { need(.webSocket, declaration.span) }
            need(target == nil ? .listen : .connect, declaration.span)
            if let tls = declaration.tls { need(.tls, tls.span) }
            if options.connectTimeout != nil { need(.connectTimeout, declaration.span) }
            if options.idleTimeout != nil { need(.idleTimeout, declaration.span) }
            if options.allowsHalfClose { need(.halfClosed, declaration.span) }
            if options.heartbeat != nil || options.heartbeatTimeout != nil || options.heartbeatAnswer != nil {
                need(.heartbeat, declaration.span)
            }
            if options.reconnect != nil { need(.reconnect, declaration.span) }
            if options.parsesProtobuf { need(.protobuf, declaration.span) }
            if options.highWater != nil { need(.highWater, declaration.span) }
            if Self.isOnUnixSocket(target, options, in: scenario) { need(.unix, declaration.span) }
            // For a listening subject, `local` is the address that it listens on, so the capability `local` isn't
            // required.
            if options.local != nil, target != nil { need(.local, declaration.span) }
            if options.interface != nil { need(.interface, declaration.span) }
            if options.preference != nil { need(.prefer, declaration.span) }
            if options.discardsTooLong {
                // A subject that discards lines above its limit need not offer `max-line`.
                need(.discarded, declaration.span)
            } else if let limit = scenario.maxLine {
                need(.maxLine, limit.span)
            }
        }
        walk(scenario.steps, depth: 0)
        // A subject that reads only on request reports the result of each read as `data`, so it need not offer `data`.
        if asksToRead { needed.removeAll { $0.0 == .data } }
    }

    private static func isOnUnixSocket(_ target: Target?, _ options: SubjectOptions, in scenario: Scenario) -> Bool {
        switch target {
        case nil: options.local?.unix != nil
        case .address(let address): address.unix != nil
        case .actor(let name):
            scenario.actors.contains { actor in
                guard actor.name.value == name.value, case .server(let address, _, _) = actor.kind else { return false }
                return address?.unix != nil
            }
        }
    }

    /// Returns the step whose bytes a subject with the given capabilities could never report, because the subject reads
    /// only on request and no step requests a read.
    func unreportable(by capabilities: Set<TransportCapability>) -> SourceSpan? {
        guard capabilities.contains(.reads), capabilities.isDisjoint(with: [.lines, .messages]) else { return nil }
        return asksToRead ? nil : firstPeerSend
    }

    /// Returns the step that a subject with the given capabilities could never pass, because the subject detects the
    /// end of a connection only by reading.
    func undetectable(by capabilities: Set<TransportCapability>) -> SourceSpan? {
        capabilities.contains(.reads) && !capabilities.contains(.watches) ? firstUnaskedEnd : nil
    }

    private mutating func need(_ capability: TransportCapability, _ span: SourceSpan) {
        if !needed.contains(where: { $0.0 == capability }) { needed.append((capability, span)) }
    }

    private mutating func walk(_ steps: [Step], depth: Int) {
        for step in steps {
            switch step.kind {
            case .act(let actor, .subject(let subjectAction), _):
                follow(subjectAction, of: actor.value, at: step.focus)
                if let capability = capability(of: subjectAction, actor.value) { need(capability, step.focus) }
                if case .read = subjectAction { asksToRead = true }
                if case .framing(let framing, _) = subjectAction {
                    framings.append((framing, step.focus))
                    framingBySubject[actor.value] = framing
                }
                if case .expect(.resource) = subjectAction {
                    measures = true
                    if firstMeasure == nil { firstMeasure = step.focus }
                }
            case .act(_, .connection(.send), _): if firstPeerSend == nil { firstPeerSend = step.focus }
            case .loop(_, _, let block), .sequence(let block), .together(let block), .finally(let block),
                .whenever(_, _, let block), .retry(_, _, let block):
                walk(block.steps, depth: depth)
            case .either(let blocks): walkEither(blocks, depth: depth)
            case .invoke(let name):
                if depth < 64, let block = scenario.definitions[name.value] { walk(block.steps, depth: depth + 1) }
            default: break
            }
        }
    }

    /// Tracks the reads whose result has not been consumed, and the first step that expects the end of a connection
    /// while there are no such reads.
    private mutating func follow(_ action: SubjectAction, of subject: String, at span: SourceSpan) {
        switch action {
        case .read: openReads[subject, default: 0] += 1
        case .expect(.data), .expect(.bytes): openReads[subject, default: 0] -= 1
        case .expect(.stopped(let reason, _)):
            let isPeers = reason.map { ["eof", "reset", "broken-pipe"].contains($0) } ?? true
            if isPeers, !askedToStop.contains(subject), openReads[subject, default: 0] <= 0, firstUnaskedEnd == nil {
                firstUnaskedEnd = span
            }
        case .stop, .operate(.reset): askedToStop.insert(subject)
        case .start:
            // A `start` after a stop opens a new connection.
            askedToStop.remove(subject)
            openReads[subject] = 0
            framingBySubject[subject] = nil
        case .send, .sendEarly, .sendBinary, .ping, .closeFrame, .expect, .operate, .framing, .startTLS: break
        }
    }

    /// Adds the capabilities that all branches require. If only some branches require a capability, a case with a
    /// subject that lacks it can take another branch.
    private mutating func walkEither(_ blocks: [Block], depth: Int) {
        let (before, reads, stopped, unasked) = (needed, openReads, askedToStop, firstUnaskedEnd)
        let measured = firstMeasure
        var unaskedEnds: [SourceSpan?] = []
        var measures: [SourceSpan?] = []
        let branches = blocks.map { block in
            (needed, openReads, askedToStop, firstUnaskedEnd) = ([], reads, stopped, unasked)
            firstMeasure = measured
            walk(block.steps, depth: depth)
            unaskedEnds.append(firstUnaskedEnd)
            measures.append(firstMeasure)
            return needed
        }
        needed = before
        firstMeasure = measures.contains { $0 == nil } ? nil : measures.first ?? measured
        firstUnaskedEnd = unaskedEnds.contains { $0 == nil } ? nil : unaskedEnds.first ?? unasked
        for (capability, span) in branches.first ?? []
        where branches.allSatisfy({ $0.contains { $0.0 == capability } }) {
            need(capability, span)
        }
    }

    /// Returns the capability that an action requires. With a line framing, a message is a line.
    private func capability(of action: SubjectAction, _ subject: String) -> TransportCapability? {
        guard let capability = Action.subject(action).entry.capability else { return nil }
        let framing = framingBySubject[subject] ?? scenario.framing
        if capability == .messages, framing == .websocket { return .webSocket }
        if capability == .messages, framing.terminator != nil { return .lines }
        return capability
    }
}
