/// Tracks the effect of each step on its actor, and reports steps that are impossible at their position in the
/// timeline.
struct OrderChecker {
    let names: NameScope

    private var tls: TLSChecker { TLSChecker(names: names) }

    func follow(_ name: Name, _ known: ScriptState.Actor, _ action: Action, _ step: Step) {
        let effect = action.effect
        switch effect {
        case .nothing: break
        case .accepts(let bound, let mode): follow(accept: bound, mode, name, known, step)
        case .listens:
            if known.isListening == true {
                names.reportOrder(
                    .alreadyRunning, "`\(name.value)` is already listening",
                    hint: "remove this step; a server listens from the start of the case until `stop listening`",
                    at: step.focus)
            }
            change(name) { $0.isListening = true }
        case .stopsListening:
            if known.isListening == false { names.reportOrder(.listenerStopped(name.value), at: step.focus) }
            change(name) { $0.isListening = false }
        case .reboots:
            if known.isListening == false { names.reportOrder(.listenerStopped(name.value), at: step.focus) }
            for (other, actor) in names.state.actors
            where (other == name.value || actor.parent == name.value) && actor.link == .up {
                change(Name(other, name.span)) { $0.link = .closed(verb: "reboot", span: step.span) }
            }
        case .connects(let address, let outcome): followConnect(name, known, address, outcome, step)
        case .usesConnection, .sends, .endsSending, .ends, .peerEnds, .changesOption, .changesBuffer, .changesReading:
            followConnection(name, known, effect, step)
            if case .connection(let action) = action { tls.follow(name, known, action, step) }
        case .startsTLS, .usesTLS, .sendsNotify, .forges, .observesTLS:
            followConnection(name, known, effect, step)
            if case .connection(let action) = action { tls.follow(name, known, action, step) }
        case .startsSubject, .operatesSubject, .observesSubject, .subjectAccepts:
            followSubject(name, known, effect)
        case .startsSubjectTLS, .observesSubjectTLS:
            followSubject(name, known, effect)
            tls.follow(subject: name, known, effect, step)
        case .acceptsProxied, .changesProxied, .watchesProxied:
            ProxyChecker(names: names, order: self).follow(name, known, action, step)
        case .startsCrowd, .stopsCrowd, .observesCrowd:
            CrowdChecker(names: names).follow(name, known, action, step)
        case .startsProcess, .usesProcess, .readsOutput, .endsProcess:
            followProcess(name, known, effect, step)
        }
        WebSocketChecker(names: names).follow(name, action, step)
        if case .subject(.expect(let expectation)) = action { requireReconnect(name, expectation, step) }
        names.bind(action.bindings)
    }

    func change(_ name: Name, _ update: (inout ScriptState.Actor) -> Void) {
        guard var actor = names.state.actors[name.value] else { return }
        update(&actor)
        names.state.set(name.value, actor)
    }

    // MARK: Connections

    private func followConnection(
        _ name: Name, _ known: ScriptState.Actor, _ effect: ActionEffect, _ step: Step
    ) {
        switch effect {
        case .changesBuffer:
            if known.link == .up {
                names.reportOrder(
                    .bufferTooLate,
                    "`\(name.value)` is already connected, so the size of its buffer no longer limits the window",
                    hint: "set the buffer's size in the actor's declaration: `with receive-buffer 4KiB`", at: step.span)
            }
            requireNotClosed(name, known)
        case .changesOption: requireNotClosed(name, known)
        case .changesReading: followReading(name, known)
        case .ends(let verb):
            requireUp(name, known)
            change(name) { $0.link = .closed(verb: verb, span: step.span) }
        case .endsSending:
            requireUp(name, known)
            requireOpenForSending(name, known, step)
            change(name) { $0.halfClosed = step.span }
        case .sends, .usesTLS, .sendsNotify, .forges:
            requireUp(name, known)
            requireOpenForSending(name, known, step)
        case .peerEnds, .observesTLS(ends: true):
            requireUp(name, known, isReceiving: true)
            change(name) { $0.link = $0.link == .up ? .ended : $0.link }
        default: requireUp(name, known)
        }
    }

    /// Tracks the effect of a step that sets how a connection is read. Such a step is allowed before the connection
    /// exists.
    private func followReading(_ name: Name, _ known: ScriptState.Actor) {
        switch known.link {
        case .none, .closed:
            guard known.kind != .connection else { return requireUp(name, known) }
            // In the second pass over a loop's body, the last step may set how a connection of the next iteration is
            // read, but that iteration is never walked.
            guard !names.place.isOrderUnknown, !names.place.isSecondPass else { return }
            if names.pendingReadings[name.value] == nil { names.pendingReadings[name.value] = (name, known.kind) }
        case .up, .ended, .unknown: requireUp(name, known)
        }
    }

    /// Reports steps that set how a connection is read, if no such connection was opened later. Called at the end of
    /// the timeline.
    func reportReadingsOfNothing() {
        for (name, kind) in names.pendingReadings.values.sorted(by: { $0.name.span.start < $1.name.span.start }) {
            names.report(
                .notConnected, "`\(name.value)` is not connected at this step, and no later step connects it",
                hint: kind == .server
                    ? "move this step after `\(name.value) accept`, or before the `accept` of the connection that it "
                        + "applies to"
                    : "move this step after `\(name.value) connect`, or before the `connect` of the connection that "
                        + "it applies to",
                at: name.span)
        }
    }

    /// Requires that the step's connection exists.
    func requireUp(_ name: Name, _ known: ScriptState.Actor, isReceiving: Bool = false) {
        if known.link == .none {
            names.reportOrder(.notConnected(name.value, kind: known.kind), at: name.span)
            // The connection's state is set to unknown so that later steps of the actor do not cause the same error.
            change(name) {
                $0.link = .unknown
                $0.maxConnections = nil
                $0.minAccepts = nil
            }
        }
        requireNotClosed(name, known, isReceiving: isReceiving)
    }

    private func requireNotClosed(_ name: Name, _ known: ScriptState.Actor, isReceiving: Bool = false) {
        guard case .closed(let verb, let span) = known.link else { return }
        names.reportOrder(
            isReceiving && verb == "close"
                ? .expectsAfterClose(name.value) : .afterOwn(verb: verb, actor: name.value),
            at: name.span,
            notes: [Diagnostic.Note("the connection ended here", span: span)])
    }

    private func requireOpenForSending(_ name: Name, _ known: ScriptState.Actor, _ step: Step) {
        guard let span = known.halfClosed, known.link == .up || known.link == .ended else { return }
        names.reportOrder(
            .unreachableStep,
            "`\(name.value)` can no longer send after its own `half-close`",
            hint: "move the step before the `half-close`", at: step.focus,
            notes: [Diagnostic.Note("half-closed here", span: span)])
    }

    private func follow(
        accept bound: Name?, _ mode: ServerAction.AcceptMode, _ name: Name, _ known: ScriptState.Actor, _ step: Step
    ) {
        names.pendingReadings[name.value] = nil
        let security = tls.security(accepting: mode, name, known, step)
        if known.isListening == false { names.reportOrder(.listenerStopped(name.value), at: name.span) }
        let isSecond = bound == nil && known.link == .up
        let tooEarly = isSecond || names.place.isInBranch ? nil : names.missingConnection(to: name.value, known)
        if let tooEarly { names.reportOrder(tooEarly, at: step.focus) }
        change(name) {
            // After an error, accepted connections are no longer counted, so that later `accept` steps do not cause the
            // same error. Connections accepted in the second pass over a loop's body are not counted either, because
            // the loop may have only one iteration.
            $0.minAccepts = tooEarly == nil ? $0.minAccepts.map { $0 + (names.place.isSecondPass ? 0 : 1) } : nil
        }
        guard let bound else {
            if isSecond { names.reportOrder(.secondAccept(name.value), at: step.focus) }
            change(name) {
                $0.link = .up
                $0.halfClosed = nil
                $0.security = security
                $0.connections += 1
            }
            return
        }
        if names.state.variables[bound.value] != nil
            || names.collected.headerActors.contains(bound.value)
        {
            names.reportTaken(bound)
            return
        }
        if let earlier = names.state.actors[bound.value], earlier.link == .up, !earlier.isUncertain,
            !names.place.isSecondPass
        {
            names.reportOrder(.alreadyConnected(bound.value), at: bound.span)
        }
        var connection = ScriptState.Actor(kind: .connection)
        connection.link = names.isDoubtful(bound.value) ? .unknown : .up
        connection.connections = 1
        connection.parent = name.value
        connection.isUnix = known.isUnix
        connection.security = security
        connection.tls = known.tls
        names.state.set(bound.value, connection)
        change(name) { $0.connections += 1 }
    }

    private func followConnect(
        _ name: Name, _ known: ScriptState.Actor, _ address: AddressExpression?, _ outcome: ClientAction.ConnectOutcome,
        _ step: Step
    ) {
        names.pendingReadings[name.value] = nil
        let isDeclared = names.targets[name.value] != nil
        if address == nil, !isDeclared, !names.isDoubtful(name.value) {
            names.report(
                .notConnected, "`\(name.value)` has no address to connect to",
                hint: "declare the client as `client \(name.value) -> S`, or write `connect to "
                    + "127.0.0.1:80`", at: step.focus)
        }
        if let address, isDeclared {
            names.report(
                .alreadyConnected, "`\(name.value)` is already declared with an address",
                hint: "write `connect` alone, or declare `client \(name.value)` without an address", at: address.span)
        }
        if known.link == .up { names.reportOrder(.alreadyConnected(name.value), at: name.span) }
        if case .succeeds = outcome {
            CrowdChecker(names: names).requireListening(names.targets[name.value], from: name)
        }
        let security = tls.security(connecting: outcome, name, known, step)
        switch outcome {
        case .succeeds, .withoutTLS, .tlsFails:
            change(name) {
                $0.link = .up
                $0.halfClosed = nil
                $0.security = security
                $0.connections += 1
                $0.maxConnections = names.place.mayRepeat ? nil : $0.maxConnections.map { $0 + 1 }
            }
        case .refused, .timesOut:
            change(name) {
                $0.link = .none
                $0.maxConnections = nil
                $0.mayHaveMore = true
            }
        }
    }

    // MARK: Subjects

    private func followSubject(_ name: Name, _ known: ScriptState.Actor, _ effect: ActionEffect) {
        switch effect {
        case .observesSubject, .observesSubjectTLS, .subjectAccepts:
            if known.lifecycle == .idle {
                names.reportOrder(.notStarted(name.value, kind: .subject), at: name.span)
            }
        default: break
        }
        change(name) {
            $0.lifecycle = .running
            $0.maxConnections = nil
            guard case .startsSubject = effect else { return }
            $0.link = .up
            $0.security = $0.tls == nil ? .plain : .tls
            $0.connections = max(1, $0.connections)
            $0.mayHaveMore = true
        }
        if case .subjectAccepts(let bound) = effect { follow(accepted: bound, by: name) }
    }

    /// Requires the subject's option `reconnect` for expectations about reconnecting. Without the option, a subject
    /// whose connection ends reports `stopped`, and never `lost`.
    private func requireReconnect(_ name: Name, _ expectation: SubjectExpectation, _ step: Step) {
        guard expectation.isAboutReconnecting else { return }
        for actor in names.context.scenario.actors where actor.name.value == name.value {
            if case .subject(_, let options) = actor.kind, options.reconnect != nil { return }
        }
        names.report(
            .unknownExpectation,
            "`expect \(expectation.spelling)` requires `reconnect`, but `\(name.value)` is declared without it",
            hint: "declare the subject with `reconnect 100ms..1s`, or use `\(name.value) expect stopped` instead",
            at: step.focus)
    }

    private func follow(accepted bound: Name, by name: Name) {
        if names.state.variables[bound.value] != nil
            || names.collected.headerActors.contains(bound.value)
        {
            names.reportTaken(bound)
            return
        }
        var connection = ScriptState.Actor(kind: .subject)
        connection.lifecycle = .running
        connection.link = .up
        connection.connections = 1
        connection.parent = name.value
        names.state.set(bound.value, connection)
    }

    // MARK: Processes

    private func followProcess(
        _ name: Name, _ known: ScriptState.Actor, _ effect: ActionEffect, _ step: Step
    ) {
        switch effect {
        case .startsProcess:
            if known.lifecycle == .running {
                names.reportOrder(
                    .alreadyRunning, "`\(name.value)` is already running",
                    hint: "add `\(name.value) stop` or `\(name.value) expect exit` before this step", at: step.focus)
            }
            change(name) { $0.lifecycle = .running }
        case .endsProcess:
            requireRunning(name, known, step)
            change(name) { $0.lifecycle = .stopped }
        case .readsOutput: requireStarted(name, known)
        default: requireRunning(name, known, step)
        }
    }

    private func requireRunning(_ name: Name, _ known: ScriptState.Actor, _ step: Step) {
        requireStarted(name, known)
        if known.lifecycle == .stopped {
            names.reportOrder(
                .notRunning, "`\(name.value)` is no longer running",
                hint: "add `\(name.value) start` before this step", at: step.focus)
        }
    }

    private func requireStarted(_ name: Name, _ known: ScriptState.Actor) {
        guard known.lifecycle == .idle else { return }
        names.reportOrder(.notStarted(name.value, kind: .process), at: name.span)
        change(name) { $0.lifecycle = .unknown }
    }
}

extension Diagnostic.Message {
    static func afterOwn(verb: String, actor: String) -> Self {
        Self(
            .unreachableStep, "the connection of `\(actor)` was already ended by `\(verb)`, so this step can't run",
            hint: "move the step before the `\(verb)`, or `connect` or `accept` again first")
    }

    static func notConnected(_ actor: String, kind: ActorKind) -> Self {
        if kind == .proxy {
            return Self(
                .notConnected, "`\(actor)` has no connection yet",
                hint: "add `\(actor) accept` before this step, to accept the next connection to the proxy")
        }
        return Self(
            .notConnected, "`\(actor)` is not connected yet",
            hint: "add `\(actor) \(kind == .server ? "accept" : "connect")` before this step")
    }

    static func alreadyConnected(_ actor: String) -> Self {
        Self(
            .alreadyConnected, "`\(actor)` is still connected",
            hint: "close or reset the connection first, or use another actor for a second connection")
    }

    static func secondAccept(_ actor: String) -> Self {
        Self(
            .secondAccept, "`\(actor)` already names the connection of its first `accept`",
            hint: "give the second connection a name: `\(actor) accept as A`")
    }

    static func listenerStopped(_ actor: String) -> Self {
        Self(.notRunning, "`\(actor)` is no longer listening", hint: "add `\(actor) listen` before this step")
    }

    static func notStarted(_ actor: String, kind: ActorKind) -> Self {
        Self(
            .notRunning, "`\(actor)` has not been started",
            hint: "add `\(actor) start` before this step"
                + (kind == .subject ? "; a subject that is never started reports nothing" : ""))
    }

    /// The message for an expectation after the actor's own `close`. After a `half-close`, the actor can still receive.
    static func expectsAfterClose(_ actor: String) -> Self {
        Self(
            .unreachableStep, "the connection of `\(actor)` was already ended by `close`, so this step can't run",
            hint: "use `\(actor) half-close` instead of the `close`: it sends a FIN, and `\(actor)` can still receive")
    }
}
