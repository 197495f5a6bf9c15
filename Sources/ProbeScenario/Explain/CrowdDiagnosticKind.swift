import ProbeBase

/// What can be wrong with crowds: with the script of the members, and with what is said of all of them.
package enum CrowdDiagnosticKind: Sendable {
    // The script of the members
    case emptyScript
    case unknownStatement(String)
    /// `send urgent`, `in records of`.
    case notOfMembers(String)
    case bindsName(String)
    case bindsGroup(String)
    /// `expect "x"`.
    case expectsBytes
    /// What goes on to the end stands before it.
    case behindEndless(String)
    /// A `repeat` in which nothing takes time.
    case repeatsNothing
    case notConnected(String)
    case connectedAlready
    /// A member of `servers` says `connect`.
    case serverConnects
    /// A member's connection was ended by its own `close` or `reset`.
    case afterOwn(String, verb: String)
    /// `line` with a framing whose lines have no terminator.
    case noLines(String)
    // The crowd
    case sourceElsewhere(String)
    case sourcesReversed
    case overUnix(String)
    /// A server of the harness drops what a crowd sends, and sends nothing.
    case neverAnswered(server: String)
    case tlsToServer(String)
    case serverWithTLS(String)
    case noPercentile(String)
    /// `at 0/s`, `at 2000`
    case noneASecond
    case noRate(String)
    case neverStarted(String)
    case notStarted(String)
    case startedTwice(String)
    case stoppedTwice(String)
    case notListening(String, client: String)
    /// More members are expected than there are.
    case tooFew(String, members: Int)
    /// At least 0 are expected.
    case alwaysHolds(String, CrowdCount)
    case notMeasured(String, CrowdLatency)
    case neverDone(String)
    case portOfClients(String)
    /// A step of packets names a crowd.
    case notCaptured(String)

    var message: Diagnostic.Message {
        switch self {
        case .emptyScript:
            .init(
                .emptyBlock, "there is no statement here: the members would do nothing",
                hint: "write what they do; { connect } is for clients that connect and stay")
        case .unknownStatement(let text):
            .init(
                .crowdScript, "\(Escaped.quoted(text)) is no statement of a member of a crowd",
                hint: "a member can " + CrowdStatement.choices.joined(separator: ", "))
        case .notOfMembers(let what):
            .init(
                .crowdScript, "a member of a crowd has no `\(what)`",
                hint: "let a client of the script do it: client C -> S")
        case .bindsName(let name):
            .init(
                .crowdScript, "`\(name)` would have a value for each member: a crowd binds no names",
                hint: "leave `as` out, or look at it with a client of the script")
        case .bindsGroup(let name):
            .init(
                .crowdScript, "the group `\(name)` would have a value for each member: a crowd binds no names",
                hint: "write (…) in place of (?<\(name)>…)")
        case .expectsBytes:
            .init(
                .crowdScript, "a member waits for lines, for a number of bytes, or up to a value",
                hint: "write expect line \"x\", expect until \"x\" or expect 10 bytes")
        case .behindEndless(let what):
            .init(
                .unreachableStep, "this is never reached: the \(what) before it goes on until the crowd stops",
                hint: "move it up, before the \(what)")
        case .repeatsNothing:
            .init(
                .crowdScript, "nothing in this repeat takes time: the members would turn round and round",
                hint: "it has to connect, send, expect or wait: repeat { send \"a\\r\\n\"; wait 1s }")
        case .notConnected(let what):
            .init(
                .notConnected, "a member is not connected yet where it is to \(what)",
                hint: "clients begin with connect: { connect; \(what) … }")
        case .connectedAlready:
            .init(
                .alreadyConnected, "a member is connected already at this place",
                hint: "write close or reset before it")
        case .serverConnects:
            .init(
                .crowdScript, "the members of `servers` are connections that have come: they connect to nothing",
                hint: "leave connect out; members that connect are clients: crowd W = 100 clients -> S")
        case .afterOwn(let what, let verb):
            .init(
                .unreachableStep, "a member was ended by its own \(verb) before: it can't \(what)",
                hint: "move it up, or let clients connect again before it")
        case .noLines(let framing):
            .init(
                .crowdScript, "with framing \(framing) no line ends with a terminator, and members know no others",
                hint: "write expect 10 bytes or expect until \"x\", or send without line")
        case .sourceElsewhere(let address):
            .init(
                .badAddress, "a crowd can't connect from \(Escaped.text(address.utf8)), which is not in 127.0.0.0/8",
                hint: "write an address of the loopback interface, or two: from 127.0.0.2..127.0.0.9")
        case .sourcesReversed:
            .init(
                .emptyRange, "the first address is higher than the last one",
                hint: "write the lower address first: from 127.0.0.2..127.0.0.9")
        case .overUnix(let name):
            .init(
                .notAnActor, "`\(name)` is a crowd, and crowds connect over TCP only",
                hint: "let it connect to a TCP address: server S on 127.0.0.1")
        case .neverAnswered(let server):
            .init(
                .crowdScript,
                "`\(server)` is a server of the script: it drops what a crowd sends, and never answers it",
                hint: "a process or a subject that listens answers; leave the expect out")
        case .tlsToServer(let server):
            .init(
                .crowdScript,
                "`\(server)` is a server of the script: it drops what a crowd sends, and makes no handshake with it",
                hint: "leave tls out, or let the crowd connect to a process")
        case .serverWithTLS(let server):
            .init(
                .crowdScript, "`\(server)` has TLS, and what takes the connections of a crowd there has none",
                hint: "let the crowd connect to a server without tls, or to a process")
        case .noPercentile(let text):
            .init(
                .outOfRange, "\(Escaped.quoted(text)) is no percentile",
                hint: "it is above p0 and at most p100: p50, p99, p99.9, or max")
        case .noneASecond:
            .init(.badNumber, "at less than one a second no member ever begins", hint: "for example: start at 2000/s")
        case .noRate(let text):
            .init(
                .wrongQuantity, "\(Escaped.quoted(text)) is no number of members a second",
                hint: "write it as 2000/s, or leave `at` out: then all begin at once")
        case .neverStarted(let name):
            .init(
                .notRunning, "`\(name)` is never started: its members do nothing",
                hint: "write \(name) start { … } with what each of them does")
        case .notStarted(let name):
            .init(
                .notRunning, "`\(name)` was not started",
                hint: "write \(name) start { … } before this step, with what each member does")
        case .startedTwice(let name):
            .init(.alreadyRunning, "`\(name)` runs already", hint: "write \(name) stop before it is started again")
        case .stoppedTwice(let name):
            .init(.notRunning, "`\(name)` does not run any more", hint: "write \(name) start { … } before this step")
        case .notListening(let name, let client):
            .init(
                .notRunning, "`\(client)` connects to `\(name)`, which was not started: nobody listens there",
                hint: "write \(name) start { … } before this step")
        case .tooFew(let name, let members):
            .init(
                .outOfRange, "`\(name)` has \(counted(members, "member")): so many there are never",
                hint: "expect \(members) at most, or write crowd \(name) with more members")
        case .alwaysHolds(let name, let count):
            .init(
                .outOfRange, "this always holds: `\(count.rawValue)` of `\(name)` is never below 0",
                hint: "write \(name) expect \(count.rawValue) == 0 where there must be none, or how many there must be")
        case .notMeasured(let name, let what):
            .init(
                .crowdScript, "the members of `\(name)` never wait for `\(what.rawValue)`: there is nothing to measure",
                hint: "it is measured of their \(Self.example(of: what))")
        case .neverDone(let name):
            .init(
                .crowdScript,
                "the members of `\(name)` never come to an end: their script goes on until the crowd stops",
                hint: "expect alive or connected of them")
        case .portOfClients(let name):
            .init(
                .unknownProperty, "the members of `\(name)` are clients: each has an address and a port of its own",
                hint: "a crowd that listens has them: crowd V = 100 servers")
        case .notCaptured(let name):
            .init(
                .notAnActor, "`\(name)` is a crowd: its packets are not captured",
                hint: "write wire statements about a client of the script beside the crowd")
        }
    }

    private static func example(of latency: CrowdLatency) -> String {
        switch latency {
        case .connect: "connect"
        case .line: "expect line"
        case .bytes: "expect 10 bytes"
        case .until: "expect until \"x\""
        case .eof: "expect eof"
        }
    }

    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .crowdScript: DiagnosticExplanation(
            meaning:
                "All members of a crowd have one script, of few statements. They bind no names, and their values are computed once. "
                + "A server of the script drops what a crowd sends: it never answers.",
            wrong: #"""
                scenario "example"
                server S
                crowd W = 20 clients -> S
                W start { connect; expect line "hello" }
                W expect done 20
                """#,
            right: #"""
                scenario "example"
                server S
                crowd W = 20 clients -> S
                W start { connect; send "hello\r\n" }
                W expect done 20
                """#
        )
    ]
}
