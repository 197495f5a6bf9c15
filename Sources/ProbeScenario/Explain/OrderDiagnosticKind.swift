package import ProbeBase

/// What can be wrong with the order of steps, and with what they are about.
package enum OrderDiagnosticKind: Sendable {
    case verbNotOfKind(String, actor: String, kind: ActorWord)
    case expectationNotOfKind(String, actor: String, kind: ActorWord)
    /// An RST, urgent bytes, an option of TCP.
    case notOnUnix(String, actor: String)
    case afterOwn(verb: String, actor: String)
    case notConnected(String, kind: ActorWord)
    case alreadyConnected(String)
    case secondAccept(String)
    case listenerStopped(String)
    case listenerRunning(String)
    case notStarted(String, kind: ActorWord)
    case alreadyStarted(String)
    case hasStopped(String)
    case bufferTooLate(String)
    /// `stop reading` without a connection before it or behind it.
    case readsNothing(String, kind: ActorWord)
    case withinNotHere(String)
    case afterNotHere(String)
    case eitherStart
    case noTarget(String)
    case targetTwice(String)
    case neverConnected(String)
    case notBetween(String, String)
    case sameTwice(String)
    case ambiguous(String, count: Int)
    /// A proxy, what is said of it on the wire, and whom it connects.
    case twoEnds(String, String, others: [String])
    /// It has closed, and could have received before if it had only ended its sending.
    case expectsAfterClose(String)
    /// A subject reports messages, and a frame is expected of it.
    case frameOfSubject(String)
    case frameOfKind(WebSocketMessageKind)
    case nothingTested
    /// A server accepts, and those that could connect have not done so.
    case acceptsTooEarly(String, [String])
    /// A server accepts more often than anybody has connected to it: how often that was, and who connects later.
    case acceptsTooOften(String, Int, [String])
    case urgentLength
    case subjectSendsWhole
    case processInput
    case subjectBytes
    case nothingOnTheWireYet
    /// A step of TLS on a connection without it.
    case needsTLS(String, actor: String, declaration: String)
    case alreadyTLS(String)
    /// `without tls` or `tls failed` of an actor that was declared without it.
    case notDeclaredTLS(String)
    case afterForged(String, actor: String)
    /// A forged record with `version 1.2`.
    case forgedNeedsNewVersion(String)
    case recordsNeedTLS(String)
    /// `send … with fin` of a connection with TLS.
    case finNeedsPlain(String)
    /// A message that the declared version of TLS does not have.
    case messageOfVersion(String, TLSVersion, actor: String, TLSVersion)
    /// A control frame where no framing is `websocket`.
    ///
    /// - Parameter actor: that of a connection; nil: a subject, which speaks it from its start on.
    case needsWebSocket(String, actor: String?)
    /// `expect lost` of a subject that does not come back.
    case needsReconnect(String, actor: String)
    /// What is no step of a proxied connection.
    case notOfProxy(String, actor: String)
    /// `T framing websocket`.
    case subjectChangesToWebSocket(String)
    /// A message that only servers send, of a client.
    case messageOfServer(String, actor: String)
    /// `start tls` of a subject that listens, or of a connection that one has accepted.
    case subjectAcceptsInPlain(String)

    var message: Diagnostic.Message {
        switch self {
        case .verbNotOfKind(let verb, let actor, let kind):
            .init(
                .unknownVerb, "`\(actor)` is a \(kind.kind.rawValue), and that has no verb `\(verb)`",
                hint: ForeignWords.verb(verb, of: actor, kind.kind) ?? "it can "
                    + LanguageTable.verbChoices(of: kind.kind).joined(separator: ", "))
        case .expectationNotOfKind(let what, let actor, let kind):
            .init(
                .unknownExpectation, "`\(actor)` is a \(kind.kind.rawValue): `\(what)` can't be expected of it",
                hint: ForeignWords.expectation(what, kind.kind)
                    ?? "of it can be expected "
                    + LanguageTable.expectationChoices(of: kind.kind).joined(separator: ", ")
            )
        case .notOnUnix(let what, let actor):
            .init(
                .unknownVerb, "`\(actor)` is connected over a Unix socket, and that has no `\(what)`",
                hint: what == "reset" ? "`close` ends it; an RST needs TCP" : "leave it out, or use a TCP address")
        case .afterOwn("half-close", let actor):
            .init(
                .unreachableStep,
                "`\(actor)` has ended its sending by its own half-close before: this step can't happen",
                hint: "move the step up, before the half-close")
        case .afterOwn(let verb, let actor):
            .init(
                .unreachableStep, "`\(actor)` was ended by its own \(verb) before: this step can't happen",
                hint: "move the step up, or connect or accept again before it")
        case .notOfProxy("accept", let actor):
            .init(
                .unknownVerb, "`\(actor)` is one connection of a proxy, and that has no verb `accept`",
                hint: "the proxy itself takes the next connection: X accept as B")
        case .notOfProxy(let what, let actor):
            .init(
                .unknownExpectation, "`\(actor)` only watches what passes: `\(what)` can't be seen there",
                hint: "expect it of the endpoint itself, or look at the wire")
        case .notConnected(let actor, let kind) where kind.kind == .proxy:
            .init(
                .notConnected, "`\(actor)` has no connection yet",
                hint: "write \(actor) accept before this step: it takes the next connection that came")
        case .notConnected(let actor, let kind):
            .init(
                .notConnected, "`\(actor)` is not connected yet",
                hint: kind.kind == .server
                    ? "write \(actor) accept before this step" : "write \(actor) connect before this step")
        case .alreadyConnected(let actor):
            .init(
                .alreadyConnected, "`\(actor)` is still connected",
                hint: "close or reset it first, or take another actor for a second connection")
        case .secondAccept(let actor):
            .init(
                .secondAccept, "`\(actor)` is a connection already: since its first accept the name means that one",
                hint: "give the second one a name: \(actor) accept as A")
        case .listenerStopped(let actor):
            .init(.notRunning, "`\(actor)` does not listen any more", hint: "write \(actor) listen before this step")
        case .listenerRunning(let actor):
            .init(
                .alreadyRunning, "`\(actor)` listens already",
                hint: "a server listens from the start of the case, until stop listening")
        case .notStarted(let actor, let kind):
            .init(
                .notRunning, "`\(actor)` was not started",
                hint: "write \(actor) start before this step"
                    + (kind.kind == .subject ? "; a subject that is never started tells nothing" : ""))
        case .alreadyStarted(let actor):
            .init(
                .alreadyRunning, "`\(actor)` runs already",
                hint: "write \(actor) stop or \(actor) expect exit before this step")
        case .hasStopped(let actor):
            .init(.notRunning, "`\(actor)` does not run any more", hint: "write \(actor) start before this step")
        default: moreMessage
        }
    }

    private var moreMessage: Diagnostic.Message {
        switch self {
        case .bufferTooLate(let actor):
            .init(
                .bufferTooLate, "`\(actor)` is connected: a buffer that is set now no longer bounds the window",
                hint: "write it where the actor is declared: with receive-buffer 4KiB")
        case .readsNothing(let actor, let kind):
            .init(
                .notConnected, "`\(actor)` is not connected here, and no step behind this one connects it",
                hint: kind.kind == .server
                    ? "how it reads is said after \(actor) accept, or before it for the connection to come"
                    : "how it reads is said after \(actor) connect, or before it for the connection to come")
        case .withinNotHere(let why):
            .init(
                .timingNotHere, "`within` is for steps that wait, and \(why)",
                hint: "remove it; an expect behind the step can have a deadline")
        case .afterNotHere(let why):
            .init(
                .timingNotHere, "`after` is for steps that wait for a peer, and \(why)",
                hint: "remove it, or write wait 50ms before the step")
        case .eitherStart:
            .init(
                .eitherStart, "a branch of either starts with an expect or an accept: by that it is chosen",
                hint: "move this step behind it")
        case .noTarget(let actor):
            .init(
                .notConnected, "nobody said where `\(actor)` connects to",
                hint: "declare it as client \(actor) -> S, or write connect to 127.0.0.1:80")
        case .targetTwice(let actor):
            .init(
                .alreadyConnected, "`\(actor)` was declared with an address already",
                hint: "write connect alone, or declare it without an address: client \(actor)")
        case .neverConnected(let actor):
            .init(
                .nothingOnTheWire, "`\(actor)` has had no connection before this step: there is nothing on the wire",
                hint: "put the step behind its connect, accept or start")
        case .notBetween(let left, let right):
            .init(
                .nothingOnTheWire, "there is no connection between `\(left)` and `\(right)`",
                hint: "name the two ends of one connection")
        case .sameTwice(let actor):
            .init(
                .nothingOnTheWire, "`\(actor)` has no connection to itself", hint: "name the two ends of one connection"
            )
        case .ambiguous(let actor, let count):
            .init(
                .ambiguousConnection, "`\(actor)` has had \(count) connections: which one is meant is not clear",
                hint: "name each with accept as, and say that name here")
        case .twoEnds(let proxy, let what, let others):
            .init(
                .ambiguousConnection,
                "`\(proxy)` is a proxy: it has a connection on each side, and which one is meant is not clear",
                hint: what == "closed by"
                    ? "say which FIN is meant: \(Self.ends("fin from", proxy, others))"
                    : "name the other end: \(Self.ends(what, proxy, others))")
        case .expectsAfterClose(let actor):
            .init(
                .unreachableStep, "`\(actor)` was ended by its own close before: this step can't happen",
                hint: "write \(actor) half-close instead of the close: it sends a FIN, and \(actor) still receives")
        case .frameOfKind(let kind):
            .init(
                .wrongType, "a frame is no content of a \(kind.rawValue) message",
                hint: "write the content alone, or leave out `\(kind.rawValue)`: the frame says what it is")
        case .frameOfSubject(let actor):
            .init(
                .wrongType,
                "`\(actor)` is a subject: it reports messages without their frames, so it can never report a frame",
                hint:
                    "write what the message contains: \(actor) expect message text \"x\" or \(actor) expect message binary V"
            )
        case .nothingTested:
            .init(
                .nothingTested,
                "nothing is expected in this scenario but connections: it passes whatever comes on them",
                hint: "write what is to come: T expect line \"220 ready\"")
        case .acceptsTooEarly(let server, let peers):
            .init(
                .acceptTooEarly, "nobody has connected to `\(server)` at this step: it would wait until its deadline",
                hint: "steps run in order: put \(peers.joined(separator: " or ")) before it, "
                    + "or both into together { … }")
        case .acceptsTooOften(let server, let count, let peers):
            .init(
                .acceptTooEarly,
                (count == 1 ? "the one connection" : "each of the \(count) connections")
                    + " to `\(server)` has been accepted before this step: it would wait until its deadline",
                hint: peers.isEmpty
                    ? "remove it, or let another client connect to \(server) before it"
                    : "steps run in order: put \(peers.joined(separator: " or ")) before it, "
                        + "or both into together { … }")
        case .urgentLength:
            .init(
                .outOfRange, "one byte is sent out-of-band",
                hint: "write send urgent \"!\"; more go as ordinary bytes before it")
        case .subjectSendsWhole:
            .init(
                .unknownVerb, "a subject sends whole lines and messages: it is not cut, paced or urgent",
                hint: "cutting and pacing is for server and client; write T send line \"text\"")
        case .processInput: .init(.unknownVerb, "a process is written to as it is", hint: "write P send \"text\\n\"")
        case .subjectBytes:
            .init(
                .unknownExpectation, "a subject delivers lines or messages, not bytes",
                hint: "write expect line \"text\" or expect message \"text\"; bytes are for framing none")
        case .nothingOnTheWireYet:
            .init(
                .nothingOnTheWire, "there is no connection before this step: it would be about nothing",
                hint: "move it behind the connect, accept or start")
        default: messageOfTLS
        }
    }

    private var messageOfTLS: Diagnostic.Message {
        switch self {
        case .needsTLS(let what, let actor, let declaration):
            .init(
                .noTLS, "`\(what)` is about TLS, and `\(actor)` has none here",
                hint: "declare it as \(declaration) tls, or write \(actor) start tls before this step")
        case .alreadyTLS(let actor):
            .init(
                .noTLS, "`\(actor)` has TLS already",
                hint: "declare it without `tls`, or write `without tls` where it connects or accepts")
        case .notDeclaredTLS(let actor):
            .init(
                .noTLS, "`\(actor)` was declared without `tls`: its connections are TCP only",
                hint: "leave the words out, or declare it with `tls`")
        case .afterForged(let what, let actor):
            .init(
                .afterForged,
                "`\(actor)` has sent a record that OpenSSL does not know of: `\(what)` can't stand behind it",
                hint: "send what belongs behind it as a record too: \(actor) send record 23 \"text\"")
        case .forgedNeedsNewVersion(let actor):
            .init(
                .afterForged, "records are forged on connections of TLS 1.3 only, and `\(actor)` says `version 1.2`",
                hint: "leave `version 1.2` out")
        case .recordsNeedTLS(let actor):
            .init(
                .noTLS, "`in records of` and `plaintext` are about TLS, and `\(actor)` has none here",
                hint: "`in pieces of` cuts what leaves into segments")
        case .finNeedsPlain(let actor):
            .init(
                .expected,
                "`with fin` is for connections without TLS, and `\(actor)` has TLS here: a close_notify comes before its FIN",
                hint: "write \(actor) half-close behind the send")
        case .messageOfVersion(let what, let version, let actor, let declared):
            .init(
                .noTLS,
                "`\(what)` is a message of TLS \(version.rawValue), and `\(actor)` says `version \(declared.rawValue)`",
                hint: "declare it with `version \(version.rawValue)`")
        case .needsWebSocket(let what, let actor):
            .init(
                .unknownExpectation, "`\(what)` is about WebSocket, and no framing of the script is `websocket`",
                hint: actor.map { actor in
                    "`\(actor) framing websocket` comes before, or the opening handshake: connect websocket \"/\", accept websocket"
                } ?? "write `framing websocket` in the header: a subject speaks it from its start on")
        case .needsReconnect(let what, let actor):
            .init(
                .unknownExpectation, "`\(what)` is about coming back, and `\(actor)` was not told to",
                hint: "declare it with reconnect 100ms..1s; without that its end is \(actor) expect stopped")
        case .subjectChangesToWebSocket(let actor):
            .init(
                .unknownVerb, "\(actor) can't change to WebSocket: that begins with an opening handshake",
                hint: "write `framing websocket` in the header: a subject speaks it from its start on")
        case .messageOfServer(let what, let actor):
            .init(
                .noTLS, "`\(what)` is a message of a server, and `\(actor)` is a client",
                hint: "the server that it connects to sends it")
        case .subjectAcceptsInPlain(let actor):
            .init(
                .noTLS, "a subject begins TLS as a client, and `\(actor)` listens or was accepted",
                hint: "declare one that connects: subject T -> S")
        default: .init(.unreachableStep, "this step can't happen")
        }
    }
}

extension OrderDiagnosticKind {
    /// `wire rst from X to C or wire rst from X to S`
    fileprivate static func ends(_ what: String, _ proxy: String, _ others: [String]) -> String {
        (others.isEmpty ? ["S"] : others.prefix(3)).map { "wire \(what) \(proxy) to \($0)" }.joined(separator: " or ")
    }
}
