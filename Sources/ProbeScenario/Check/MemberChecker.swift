import ProbeBase

/// Tracks the state of a crowd's members through their script, and reports statements that no member can execute.
struct MemberChecker {
    let names: NameScope
    /// The target to which the members connect; `nil` if the members are `servers`.
    let target: Target?

    /// The state of a member's connection at one point in the member's script.
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
            if let endless {
                return names.report(
                    .unreachableStep,
                    "this statement is never reached, because the `\(endless)` before it runs until the crowd stops",
                    hint: "move the statement before the `\(endless)`", at: statement.span)
            }
            follow(statement, &link)
            if statement.kind.isEndless { endless = statement.kind.word }
        }
    }

    private func follow(_ statement: CrowdStatement, _ link: inout Link) {
        switch statement.kind {
        case .wait: break
        case .connect:
            if target == nil {
                return names.report(
                    .crowdScript, "the members of `servers` are accepted connections, which can't connect",
                    hint: "remove `connect`, or declare members that connect: `crowd W = 100 clients -> S`",
                    at: statement.span)
            }
            if case .up = link {
                names.report(
                    .alreadyConnected, "a member is already connected at this statement",
                    hint: "add `close` or `reset` before the `connect`", at: statement.span)
            }
            link = .up
        case .repeats(let inner):
            if !inner.isEmpty, !inner.contains(where: { Self.takesTime($0) }) {
                names.report(
                    .crowdScript, "nothing in this `repeat` takes time, so the members would loop without a pause",
                    hint: "add a `connect`, `send`, `expect` or `wait`: `repeat { send \"a\\r\\n\"; wait 1s }`",
                    at: statement.span)
            }
            // The second iteration of the loop begins in the state in which the first iteration ended.
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
                names.report(
                    .crowdScript,
                    "`\(name.value)` is one of the script's servers, which discard what a crowd sends and never answer",
                    hint: "remove the `expect`, or connect to a process or a subject that listens", at: statement.span)
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
        case .none:
            names.report(
                .notConnected, "a member can't `\(statement.kind.word)` yet: it is not connected",
                hint: "begin the clients' script with `connect`: `{ connect; \(statement.kind.word) … }`",
                at: statement.span)
        case .ended(let verb):
            names.report(
                .unreachableStep, "a member can't `\(statement.kind.word)` after its own `\(verb)`",
                hint: "move the statement before the `\(verb)`, or let clients `connect` again first",
                at: statement.span)
        }
        // The member is now treated as connected so that later statements do not cause the same error again.
        link = .up
    }

    /// Requires a framing whose lines end with a terminator. For lines that are sent, only `websocket` is rejected,
    /// because WebSocket frames differ from member to member.
    private func requireTerminator(isSent: Bool, _ statement: CrowdStatement) {
        let framing = names.context.scenario.framing
        guard framing.terminator == nil, !isSent || framing == .websocket else { return }
        names.report(
            .crowdScript, "members need lines with a terminator, which `framing \(framing.rawValue)` does not have",
            hint: "use `expect 10 bytes`, `expect until \"x\"`, or `send` without `line`", at: statement.span)
    }
}
