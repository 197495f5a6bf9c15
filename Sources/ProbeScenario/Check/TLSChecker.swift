import ProbeBase

/// Tracks which connections speak TLS, and reports steps that are impossible with TLS or without TLS.
struct TLSChecker {
    let names: NameScope

    private typealias Security = ScriptState.Actor.Security

    private func set(_ name: Name, _ security: ScriptState.Actor.Security) {
        guard var actor = names.state.actors[name.value] else { return }
        actor.security = security
        names.state.set(name.value, actor)
    }

    // MARK: The start of a connection

    /// Returns the security of the accepted connection.
    func security(
        accepting mode: ServerAction.AcceptMode, _ name: Name, _ known: ScriptState.Actor, _ step: Step
    ) -> ScriptState.Actor.Security {
        switch mode {
        case .asDeclared: return known.tls == nil ? .plain : .tls
        case .withoutTLS: return begun(.plain, name, known, step)
        case .tlsFails: return begun(.unknown, name, known, step)
        }
    }

    func security(
        connecting outcome: ClientAction.ConnectOutcome, _ name: Name, _ known: ScriptState.Actor, _ step: Step
    ) -> ScriptState.Actor.Security {
        switch outcome {
        case .succeeds, .refused, .timesOut: return known.tls == nil ? .plain : .tls
        case .withoutTLS: return begun(.plain, name, known, step)
        case .tlsFails: return begun(.unknown, name, known, step)
        }
    }

    private func begun(
        _ security: ScriptState.Actor.Security, _ name: Name, _ known: ScriptState.Actor, _ step: Step
    ) -> ScriptState.Actor.Security {
        if known.tls == nil, !names.isDoubtful(name.value) {
            names.reportOrder(
                .noTLS, "`\(name.value)` is declared without `tls`, so its connections use plain TCP",
                hint: "remove this clause, or declare `\(name.value)` with `tls`", at: step.focus)
        }
        return security
    }

    // MARK: Steps of a connection

    func follow(_ name: Name, _ known: ScriptState.Actor, _ action: ConnectionAction, _ step: Step) {
        if case .tls(let action) = action { follow(name, known, action, step) }
        if case .send(let statement) = action { followSend(name, known, statement, step) }
        if case .expect(let expectation) = action, expectation.requiresTLS {
            requireTLS(name, known, "expect \(expectation.spelling)", step)
        }
    }

    private func follow(_ name: Name, _ known: ScriptState.Actor, _ action: TLSAction, _ step: Step) {
        if case .start(let start) = action {
            followStart(name, known, start, step)
            return
        }
        guard requireTLS(name, known, action.spelling, step) else { return }
        switch action {
        case .start, .closeWithoutNotify: break
        case .sendRecord, .sendAlert:
            requireNewVersion(name, known, step)
            set(name, .forged(step.span))
        case .sendNotify:
            if case .forged = known.security { break }
            set(name, .notified)
        case .sendMessage(let message):
            switch known.security {
            case .forged, .notified:
                names.reportOrder(.afterForged(action.spelling, actor: name.value), at: step.focus)
            case .plain, .tls, .unknown: require(message, action.spelling, name, known, step)
            }
        case .fault:
            if case .forged = known.security {
                names.reportOrder(.afterForged(action.spelling, actor: name.value), at: step.focus)
            }
        }
    }

    private func followStart(_ name: Name, _ known: ScriptState.Actor, _ start: TLSStart, _ step: Step) {
        switch known.security {
        case .plain, .unknown: break
        case .tls, .forged, .notified:
            names.reportOrder(
                .noTLS, "`\(name.value)` already uses TLS",
                hint: "declare `\(name.value)` without `tls`, or add `without tls` to its `connect` or "
                    + "`accept`", at: step.focus)
        }
        if case .fails = start.outcome {
            set(name, .unknown)
        } else {
            set(name, start.stopsAfter == nil ? .tls : .unknown)
        }
    }

    private func followSend(_ name: Name, _ known: ScriptState.Actor, _ statement: SendStatement, _ step: Step) {
        if known.security == .plain, statement.mode == .plaintext || statement.recordLength != nil {
            names.reportOrder(
                .noTLS, "`in records of` and `plaintext` require TLS, which `\(name.value)` doesn't use at this step",
                hint: "use `in pieces of` to divide the sent bytes into segments", at: step.focus)
        }
        if statement.carriesFIN {
            switch known.security {
            case .tls, .forged, .notified:
                names.reportOrder(
                    .expected,
                    "`with fin` is for connections without TLS, but `\(name.value)` uses TLS at this step: a "
                        + "close_notify must precede the FIN",
                    hint: "add `\(name.value) half-close` after the `send`", at: step.focus)
            case .plain, .unknown: break
            }
        }
        guard statement.mode != .plaintext else { return }
        switch known.security {
        case .forged: names.reportOrder(.afterForged("send", actor: name.value), at: step.focus)
        // After close_notify, the harness writes records itself.
        case .notified: requireNewVersion(name, known, step)
        case .plain, .tls, .unknown: break
        }
    }

    // MARK: Subjects

    /// Tracks the effect of a subject's step. Starting TLS twice is not an error in the script, because the script may
    /// test how the subject responds.
    func follow(subject name: Name, _ known: ScriptState.Actor, _ effect: ActionEffect, _ step: Step) {
        guard case .startsSubjectTLS = effect else {
            if known.security == .plain, known.lifecycle == .running {
                names.reportOrder(
                    .needsTLS("expect secured", actor: name.value, declaration: "subject \(name.value) -> S"),
                    at: step.focus)
            }
            return
        }
        let isListener = !names.isDoubtful(name.value) && names.targets[name.value] == nil
        if known.parent != nil || isListener {
            names.reportOrder(
                .noTLS, "a subject starts TLS as a client, but `\(name.value)` listens or was accepted",
                hint: "declare a subject that connects: `subject T -> S`", at: step.focus)
        }
        set(name, .tls)
    }

    /// Checks a message that exists in only one TLS version, or that only a server can send.
    private func require(
        _ message: TLSMessage, _ spelling: String, _ name: Name, _ known: ScriptState.Actor, _ step: Step
    ) {
        let version = message.version
        if let declared = known.tls?.version, declared != version {
            names.reportOrder(
                .noTLS,
                "`\(spelling)` sends a message that exists only in TLS \(version.rawValue), but `\(name.value)` is "
                    + "declared with `version \(declared.rawValue)`",
                hint: "declare `\(name.value)` with `version \(version.rawValue)`", at: step.focus)
        }
        if message.isServerOnly, known.kind == .client {
            names.reportOrder(
                .noTLS, "`\(spelling)` sends a message that only a server can send, but `\(name.value)` is a client",
                hint: "send the message from the server that `\(name.value)` connects to", at: step.focus)
        }
    }

    private func requireNewVersion(_ name: Name, _ known: ScriptState.Actor, _ step: Step) {
        if known.tls?.version == .tls12 {
            names.reportOrder(
                .afterForged,
                "records can be forged only with TLS 1.3, but `\(name.value)` is declared with `version 1.2`",
                hint: "remove `version 1.2`", at: step.focus)
        }
    }

    @discardableResult
    private func requireTLS(_ name: Name, _ known: ScriptState.Actor, _ what: String, _ step: Step) -> Bool {
        guard known.security == .plain, known.link == .up || known.link == .ended else { return true }
        let declaration =
            known.kind == .server
            ? "server \(name.value)"
            : known.kind == .client
                ? "client \(name.value) -> S" : known.parent.map { "server \($0)" } ?? "server S"
        names.reportOrder(.needsTLS(what, actor: name.value, declaration: declaration), at: step.focus)
        return false
    }
}

extension Diagnostic.Message {
    /// The message for a step that requires TLS, on a connection without TLS.
    static func needsTLS(_ what: String, actor: String, declaration: String) -> Self {
        Self(
            .noTLS, "`\(what)` requires TLS, which `\(actor)` doesn't use at this step",
            hint: "declare `\(actor)` as `\(declaration) tls`, or add `\(actor) start tls` before this step")
    }

    static func afterForged(_ what: String, actor: String) -> Self {
        Self(
            .afterForged, "`\(actor)` has sent a record without OpenSSL, so `\(what)` can't follow it",
            hint: "send the data that follows as a record too: `\(actor) send record 23 \"text\"`")
    }
}
