import ProbeBase

/// Follows the script of a crowd's members, and reports statements that no member can execute.
struct MemberChecker {
    let names: NameScope
    /// The target of `clients`; `nil` for `servers`.
    let target: Target?

    /// The state of a member's connection at one point of its script.
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
                    .unreachableStep, "this is never reached: the \(endless) before it goes on until the crowd stops",
                    hint: "move it up, before the \(endless)", at: statement.span)
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
                    .crowdScript, "the members of `servers` are connections that have come: they connect to nothing",
                    hint: "leave connect out; members that connect are clients: crowd W = 100 clients -> S",
                    at: statement.span)
            }
            if case .up = link {
                names.report(
                    .alreadyConnected, "a member is connected already at this place",
                    hint: "write close or reset before it", at: statement.span)
            }
            link = .up
        case .repeats(let inner):
            if !inner.isEmpty, !inner.contains(where: { Self.takesTime($0) }) {
                names.report(
                    .crowdScript, "nothing in this repeat takes time: the members would turn round and round",
                    hint: "it has to connect, send, expect or wait: repeat { send \"a\\r\\n\"; wait 1s }",
                    at: statement.span)
            }
            // The second iteration begins in the state in which the first one ended.
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
                    "`\(name.value)` is a server of the script: it drops what a crowd sends, and never answers it",
                    hint: "a process or a subject that listens answers; leave the expect out", at: statement.span)
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
                .notConnected, "a member is not connected yet where it is to \(statement.kind.word)",
                hint: "clients begin with connect: { connect; \(statement.kind.word) … }", at: statement.span)
        case .ended(let verb):
            names.report(
                .unreachableStep, "a member was ended by its own \(verb) before: it can't \(statement.kind.word)",
                hint: "move it up, or let clients connect again before it", at: statement.span)
        }
        // Later statements would report the same error.
        link = .up
    }

    /// Requires a framing whose lines end with a terminator. For sent lines, only WebSocket is rejected, because its
    /// frames differ from member to member.
    private func requireTerminator(isSent: Bool, _ statement: CrowdStatement) {
        let framing = names.context.scenario.framing
        guard framing.terminator == nil, !isSent || framing == .websocket else { return }
        names.report(
            .crowdScript, "with framing \(framing.rawValue) no line ends with a terminator, and members know no others",
            hint: "write expect 10 bytes or expect until \"x\", or send without line", at: statement.span)
    }
}
