/// An action of an actor. Each kind of actor has its own type of action, so an action that no executor runs is a
/// compile-time error.
///
/// A server and a client also have the actions of a connection: the server's name then refers to the connection that a
/// plain `accept` accepted.
package indirect enum Action: Sendable {
    case server(ServerAction)
    case client(ClientAction)
    case connection(ConnectionAction)
    case subject(SubjectAction)
    case process(ProcessAction)
    case proxy(ProxyAction)
    case crowd(CrowdAction)

    /// Returns whether an actor of this kind has the action.
    func isOf(_ kind: ActorKind) -> Bool {
        switch self {
        case .server: kind == .server
        case .client: kind == .client
        case .connection: kind.isConnection
        case .subject: kind == .subject
        case .process: kind == .process
        case .proxy: kind == .proxy
        case .crowd: kind == .crowd
        }
    }

    /// The expectation of an `expect` step; for any other step, the action itself.
    private var part: any LanguageElement {
        switch self {
        case .server(.expect(let expectation)): expectation
        case .connection(.expect(let expectation)): expectation
        case .subject(.expect(let expectation)): expectation
        case .process(.expect(let expectation)): expectation
        case .proxy(.expect(let expectation, _)): expectation
        case .crowd(.expect(let expectation)): expectation
        case .server(let action): action
        case .client(let action): action
        case .connection(let action): action
        case .subject(let action): action
        case .process(let action): action
        case .proxy(let action): action
        case .crowd(let action): action
        }
    }

    /// The action's entry in the language table; for an `expect`, the entry of its expectation.
    package var entry: LanguageEntry {
        let part = part
        guard let entry = type(of: part).entries[part.spelling] else {
            preconditionFailure("the table has no `\(part.spelling)`")
        }
        return entry
    }

    // Each property is a `switch` rather than a call through an existential, because the checker reads the properties
    // for every step.

    var values: [ValueCheck] {
        switch self {
        case .server(let action): action.values
        case .client(let action): action.values
        case .connection(let action): action.values
        case .subject(let action): action.values
        case .process(let action): action.values
        case .proxy(let action): action.values
        case .crowd(let action): action.values
        }
    }

    var bindings: Bindings {
        switch self {
        case .connection(.expect(let expectation)): expectation.bindings
        case .subject(.expect(let expectation)): expectation.bindings
        case .process(.expect(let expectation)): expectation.bindings
        case .proxy(.expect(let expectation, _)): expectation.bindings
        case .server(let action): action.bindings
        case .client, .connection, .subject, .process, .proxy, .crowd: Bindings()
        }
    }

    var isExpectation: Bool {
        switch self {
        case .server(.expect), .connection(.expect), .subject(.expect), .process(.expect), .proxy(.expect),
            .crowd(.expect):
            true
        case .server, .client, .connection, .subject, .process, .proxy, .crowd: false
        }
    }

    /// Whether the action states what a peer must do. Connecting and accepting are excluded, because they place no
    /// requirement on the bytes that follow.
    var isTest: Bool {
        switch self {
        case .client(.connect(_, .refused, _)), .client(.connect(_, .timesOut, _)), .client(.connect(_, .tlsFails, _)),
            .server(.accept(_, .tlsFails, _)):
            true
        case .connection(.tls(.start(let start))):
            if case .fails = start.outcome { true } else { false }
        case .server, .client, .connection, .subject, .process, .proxy, .crowd: isExpectation
        }
    }

    var effect: ActionEffect {
        switch self {
        case .server(let action): action.effect
        case .client(let action): action.effect
        case .connection(let action): action.effect
        case .subject(let action): action.effect
        case .process(let action): action.effect
        case .proxy(let action): action.effect
        case .crowd(let action): action.effect
        }
    }

    /// The name that the action gives to the connection that it accepts.
    var acceptedName: Name? {
        switch self {
        case .server(.accept(as: let name, _, _)): name
        case .subject(.expect(.accept(as: let name))): name
        case .proxy(.accept(as: let name)): name
        case .server, .client, .connection, .subject, .process, .proxy, .crowd: nil
        }
    }
}
