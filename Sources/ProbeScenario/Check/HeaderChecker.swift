import ProbeBase

/// Checks the header: the declarations of actors, and the values that are bound to names.
struct HeaderChecker {
    let names: NameScope
    let values: ValueChecker
    let tables: TableChecker

    private var context: ParseContext { names.context }

    func check() {
        for actor in context.scenario.actors { declare(actor) }
        let unixServers = Set(context.scenario.actors.filter(listensOnUnix).map(\.name.value))
        for actor in context.scenario.actors { noteUnixSocket(actor, unixServers) }
        let links = LinkChecker(names: names, values: values)
        links.checkHeader()
        NameChecker(names: names, links: links).checkHeader()
        if let parameter = context.scenario.parameters.dropFirst(CaseExpansion.maxParameters).first {
            names.report(
                .tooManyCases, "the header has more than \(CaseExpansion.maxParameters) `each` declarations",
                hint: "use `let` for a single value, or one `each` for several columns of a table", at: parameter.span)
        }
        for item in context.headerOrder {
            switch item {
            case .parameter(let index): check(context.scenario.parameters[index])
            case .constant(let index):
                let (name, value) = context.scenario.constants[index]
                let type = values.requireNoRegex(value)
                if let error = names.constants.define(name.value, value) {
                    names.report(.evaluation(error.reason), at: error.span)
                }
                names.bind(name, type, inHeader: true)
            case .table(let name): tables.check(name)
            }
        }
        if let limit = context.scenario.maxLine { values.requireInteger(limit, "max-line", 1, Int.max) }
        for actor in context.scenario.actors { checkOptions(of: actor) }
    }

    private func check(_ parameter: Parameter) {
        switch parameter.source {
        case .list(let list):
            var type: ValueType?
            for value in list {
                let next = values.requireNoRegex(value)
                values.report(names.constants.fold(value))
                type = type.map { $0.joined(with: next) } ?? next
            }
            names.bind(parameter.names[0], type ?? .any, inHeader: true)
        case .range(let first, let last):
            values.requireRange(first, last)
            names.bind(parameter.names[0], .integer, inHeader: true)
        case .cuts(let value, let count):
            let length = values.requireBytes(value).length
            if let length, length <= count {
                names.report(.nothingToCut(length: length, times: count), at: value.span)
            }
            names.bind(parameter.names[0], .pieces, inHeader: true)
        case .table(let table): tables.bindColumns(of: table, to: parameter.names, inHeader: true)
        }
    }

    // MARK: Actors

    private func declare(_ actor: ActorDeclaration) {
        let name = actor.name.value
        var known = ScriptState.Actor(kind: .server)
        switch actor.kind {
        case .server: break
        case .client(let target, _):
            known.kind = .client
            names.targets[name] = target
        case .subject(let target, _):
            known.kind = .subject
            names.targets[name] = target
        case .process: known.kind = .process
        case .proxy(let target):
            known.kind = .proxy
            names.targets[name] = target
        case .crowd(let crowd):
            known.kind = .crowd
            if case .clients(let target) = crowd.role { names.targets[name] = target }
        }
        known.tls = actor.tls.map { ScriptState.DeclaredTLS(version: $0.version, span: $0.span) }
        names.state.set(name, names.isDoubtful(name) ? known.inDoubt : known)
    }

    /// Records whether the actor's connections use a Unix socket.
    private func noteUnixSocket(_ actor: ActorDeclaration, _ unixServers: Set<String>) {
        let isUnix =
            switch actor.kind {
            case .server(let address, _, _): address?.unix != nil
            case .client(.address(let address)?, _): address.unix != nil
            case .client(.actor(let server)?, _): unixServers.contains(server.value)
            case .client(nil, _), .subject, .process, .proxy, .crowd: false
            }
        guard isUnix, var known = names.state.actors[actor.name.value] else { return }
        known.isUnix = true
        names.state.set(actor.name.value, known)
    }

    private func listensOnUnix(_ actor: ActorDeclaration) -> Bool {
        switch actor.kind {
        case .server(let address, _, _): address?.unix != nil
        case .subject(nil, let options): options.local?.unix != nil
        case .client, .subject, .process, .proxy, .crowd: false
        }
    }

    private func checkOptions(of actor: ActorDeclaration) {
        for value in actor.tls?.values ?? [] { values.check(value, nil) }
        switch actor.kind {
        case .server(let address, let backlog, let options):
            if let address {
                address.link == nil ? values.check(address, for: .listening) : values.checkPort(of: address)
            }
            if let backlog { values.requireInteger(backlog, "the backlog", 0, 65_535) }
            for option in options { check(option, of: actor) }
        case .client(let target, let options):
            check(target)
            for option in options { check(option, of: actor) }
        case .subject(let target, let options):
            check(target)
            if let mark = options.highWater { values.requireInteger(mark, "high-water", 1, Int.max) }
            if let beat = options.heartbeat { values.check(.bytes(beat.message), nil) }
            if let answer = options.heartbeatAnswer { values.check(.bytes(answer), nil) }
            if let path = options.path { values.check(.bytes(path), nil) }
            checkLocalEnd(options, isListening: target == nil)
        case .proxy(let target): check(target)
        case .crowd(let crowd):
            CrowdChecker(names: names).check(crowd, of: actor, values)
            if case .clients(let target) = crowd.role { check(target, of: .crowd) }
        case .process(let command):
            values.check(command)
            FilesOfCommands(context: context).check(command)
        }
    }

    private func check(_ option: SocketOption, of actor: ActorDeclaration) {
        values.check(option)
        if option.isTCPOnly, names.state.actors[actor.name.value]?.isUnix == true {
            names.report(.notOnUnix(option.word, actor: actor.name.value), at: actor.span)
        }
    }

    /// Checks the local address of a subject.
    private func checkLocalEnd(_ options: SubjectOptions, isListening: Bool) {
        guard let local = options.local else { return }
        if local.link != nil {
            values.checkPort(of: local)
        } else if isListening {
            values.check(local, for: .listening)
        } else if let port = local.port {
            values.requireInteger(port, "the port", 1, 65_535)
        }
    }

    /// Checks the target of a connection.
    ///
    /// - Parameter kind: the kind of the actor that connects.
    private func check(_ target: Target?, of kind: ActorKind = .client) {
        switch target {
        case .address(let address): values.check(address, for: .connecting)
        case .actor(let other): checkListener(other, of: kind)
        case nil: break
        }
    }

    /// Checks the actor that a client, a subject, a proxy or a crowd connects to.
    private func checkListener(_ name: Name, of kind: ActorKind) {
        guard let known = names.state.actors[name.value] else {
            if !names.isDoubtful(name.value), context.actorKinds[name.value] == nil {
                names.report(.unknownActor(name.value, names.actorNames), at: name.span)
            }
            return
        }
        names.use(name.value)
        switch known.kind {
        case .server, .proxy: break
        // A client connects to the first port of a process.
        case .process: names.usePorts(1, of: name.value)
        case .subject where names.targets[name.value] == nil: break
        // A connection between two crowds would test only the harness itself.
        case .crowd where names.targets[name.value] == nil && kind != .crowd: break
        case .client, .subject, .connection, .crowd, .link:
            names.report(
                .wrongKindOfActor(
                    name.value, is: known.kind.rawValue,
                    wanted: "a server, a process, a proxy or a subject that listens"),
                at: name.span)
        }
    }
}

extension Diagnostic.Message {
    static func nothingToCut(length: Int, times: Int) -> Self {
        Self(
            .emptyRange,
            "\(counted(length, "byte")) can't be cut \(times == 1 ? "once" : "\(times) times"), so no case would run",
            hint: "use a longer value: n bytes can be cut in n - 1 places")
    }

    /// The message for an RST, urgent bytes or a TCP option on a Unix socket.
    static func notOnUnix(_ what: String, actor: String) -> Self {
        Self(
            .unknownVerb, "`\(actor)` uses a Unix socket, which does not support `\(what)`",
            hint: what == "reset" ? "use `close`; an RST requires TCP" : "remove `\(what)`, or use a TCP address")
    }

    static func unknownActor(_ name: String, _ actors: [String]) -> Self {
        if name == "localhost" {
            return Self(.unknownActor, "unknown actor `localhost`", hint: "add a port to the address: `localhost:8080`")
        }
        return Self(
            .unknownActor, "unknown actor `\(name)`",
            hint: Suggestion.nearest(to: name, among: actors).map { "did you mean `\($0)`?" }
                ?? (actors.isEmpty
                    ? "declare the actor before the first step, with `server \(name)` or `client \(name) -> …`, or "
                        + "bind the name with `accept as \(name)`"
                    : "the actors are \(actors.joined(separator: ", ")); declare others before the first step"))
    }

    static func wrongKindOfActor(_ name: String, is kind: String, wanted: String) -> Self {
        Self(.notAnActor, "expected \(wanted), but `\(name)` is a \(kind)")
    }
}
