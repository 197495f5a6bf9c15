import ProbeBase

/// Follows the script of a crowd's members, and reports what none of them can do.
struct MemberChecker {
    let names: NameScope
    /// What `clients` connect to; nil: they are `servers`.
    let target: Target?

    /// The connection of a member, as its script leaves it.
    private enum Link {
        case none, up
        case ended(verb: String)
    }

    func check(_ script: CrowdScript) {
        var link = target == nil ? Link.up : Link.none
        walk(script.statements, &link)
    }

    private func walk(_ statements: [CrowdStatement], _ link: inout Link) {
        var endless: String?
        for statement in statements {
            if let endless { return report(.behindEndless(endless), at: statement.span) }
            follow(statement, &link)
            if statement.kind.isEndless { endless = statement.kind.word }
        }
    }

    private func follow(_ statement: CrowdStatement, _ link: inout Link) {
        switch statement.kind {
        case .wait: break
        case .connect:
            if target == nil { return report(.serverConnects, at: statement.span) }
            if case .up = link { report(.connectedAlready, at: statement.span) }
            link = .up
        case .repeats(let inner):
            if !inner.isEmpty, !inner.contains(where: { Self.takesTime($0) }) {
                report(.repeatsNothing, at: statement.span)
            }
            // The second round begins in the state in which the first one ended.
            walk(inner, &link)
            walk(inner, &link)
        case .close, .reset:
            requireUp(statement, &link)
            link = .ended(verb: statement.kind.word)
        case .send(let send, _):
            requireUp(statement, &link)
            if send.mode == .line { requireTerminator(isSent: true, statement) }
        case .expect(let wait):
            requireUp(statement, &link)
            if case .line = wait { requireTerminator(isSent: false, statement) }
            if case .actor(let name) = target, names.state.actors[name.value]?.kind == .server {
                report(.neverAnswered(server: name.value), at: statement.span)
            }
        case .stopReading, .read, .acceptRest: requireUp(statement, &link)
        }
    }

    private static func takesTime(_ statement: CrowdStatement) -> Bool {
        switch statement.kind {
        case .connect, .send, .expect, .wait: true
        case .repeats(let inner): inner.contains(where: takesTime)
        case .close, .reset, .stopReading, .read, .acceptRest: false
        }
    }

    private func requireUp(_ statement: CrowdStatement, _ link: inout Link) {
        switch link {
        case .up: return
        case .none: report(.notConnected(statement.kind.word), at: statement.span)
        case .ended(let verb): report(.afterOwn(statement.kind.word, verb: verb), at: statement.span)
        }
        // Later statements would report the same.
        link = .up
    }

    /// The lines of members end with a terminator; of those that are sent only WebSocket's differ from member to member.
    private func requireTerminator(isSent: Bool, _ statement: CrowdStatement) {
        let framing = names.context.scenario.framing
        guard framing.terminator == nil, !isSent || framing == .websocket else { return }
        report(.noLines(framing.rawValue), at: statement.span)
    }

    private func report(_ kind: CrowdDiagnosticKind, at span: SourceSpan) { names.report(.crowd(kind), at: span) }
}
