import ProbeBase

extension Action {
    /// Whether an actor of such a kind has the action.
    func isOf(_ kind: ActorKind) -> Bool {
        switch (self, kind) {
        case (.server, .server), (.client, .client), (.subject, .subject), (.process, .process): true
        case (.connection, _): kind.isConnection
        case (.server, _), (.client, _), (.subject, _), (.process, _): false
        }
    }

    /// As it is written.
    var verb: String {
        switch self {
        case .server(.accept): "accept"
        case .server(.listen): "listen"
        case .server(.stopListening): "stop listening"
        case .server(.expect), .connection(.expect), .subject(.expect), .process(.expect): "expect"
        case .client(.connect): "connect"
        case .connection(.send(let statement)): statement.inBackground ? "start sending" : "send"
        case .connection(.close): "close"
        case .connection(.halfClose), .subject(.halfClose): "half-close"
        case .connection(.reset): "reset"
        case .connection(.stopReading), .subject(.stopReading): "stop reading"
        case .connection(.resumeReading), .subject(.resumeReading): "resume reading"
        case .connection(.readSlowly): "read … every"
        case .connection(.set): "set"
        case .connection(.ignoreRest): "ignore rest"
        case .connection(.framing): "framing"
        case .subject(.send), .process(.send): "send"
        case .subject(.read): "read"
        case .subject(.start), .process(.start): "start"
        case .subject(.stop), .process(.stop): "stop"
        case .process(.signal): "signal"
        }
    }

    /// What is expected, as it is written; nil for another action.
    var expectationWord: String? {
        switch self {
        case .server(.expect(.noConnection)): "no connection"
        case .connection(.expect(let expectation)): expectation.word
        case .subject(.expect(let expectation)): expectation.word
        case .process(.expect(let expectation)): expectation.word
        case .server, .client, .connection, .subject, .process: nil
        }
    }

    /// Why `within` or `after` has no meaning here; nil where it has one. Every clause is judged or refused.
    var timingRefusals: (within: String?, after: String?) {
        switch self {
        case .server(.accept), .client(.connect(_, .succeeds)), .client(.connect(_, .refused)): (nil, nil)
        case .client(.connect(_, .timesOut)):
            (nil, "this one passes at its deadline, when no answer has come")
        case .server(.expect(.noConnection)): Self.silence
        case .connection(.expect(let expectation)):
            switch expectation {
            case .nothing, .stalled: Self.silence
            case .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .urgent, .message,
                .eof, .reset, .closed, .sent, .sendFailed:
                (nil, nil)
            }
        case .subject(.expect(let expectation)):
            switch expectation {
            case .nothing: Self.silence
            case .error:
                (
                    "this one looks at what the operation before it has answered",
                    "this one looks at what the operation before it has answered"
                )
            case .started, .line, .message, .sent, .leftover, .data, .bytes, .accept, .stopped: (nil, nil)
            }
        case .process(.expect(let expectation)):
            switch expectation {
            case .noOutput:
                ("this one looks at once, or says how long with `for`", "this one waits for nothing")
            case .memory, .descriptors: ("this one looks at once", "this one looks at once")
            case .listening, .output, .exit: (nil, nil)
            }
        case .subject(.read): (nil, "this one only asks")
        case .connection(.send), .subject(.send), .process(.send):
            ("a send ends when the kernel has taken it all: `timeout` bounds it", "this one does not")
        case .server(.listen), .server(.stopListening), .connection, .subject, .process:
            ("`\(verb)` does not", "this one does not")
        }
    }

    private static let silence: (within: String?, after: String?) = (
        "this one says how long with `for`", "this one waits for nothing"
    )
}

extension ConnectionExpectation {
    /// As it is written.
    var word: String {
        switch self {
        case .bytes: "bytes"
        case .line: "line"
        case .linesInAnyOrder: "lines in any order"
        case .untilLine: "until line"
        case .count: "… bytes"
        case .until: "until"
        case .anyBytes: "any bytes"
        case .integer(let format, _): format.rawValue
        case .urgent: "urgent"
        case .message: "message"
        case .eof: "eof"
        case .reset: "reset"
        case .closed: "closed"
        case .nothing: "nothing"
        case .stalled: "stalled"
        case .sent: "sent"
        case .sendFailed: "send failed"
        }
    }

    /// The variables that it binds, in the order of the text.
    var bindings: Bindings {
        switch self {
        case .line(let pattern, let name), .untilLine(let pattern, let name), .message(let pattern, let name):
            Bindings(groups: pattern, name: name)
        case .linesInAnyOrder(let lines):
            Bindings(patterns: lines.map { ($0.pattern, isOptional: $0.isOptional) })
        case .count(_, let name), .until(_, let name), .anyBytes(let name): Bindings(name: name)
        case .integer(_, let name): Bindings(name: name, type: .integer)
        case .bytes, .urgent, .eof, .reset, .closed, .nothing, .stalled, .sent, .sendFailed: Bindings()
        }
    }
}

extension SubjectExpectation {
    /// As it is written.
    var word: String {
        switch self {
        case .started: "started"
        case .line: "line"
        case .message: "message"
        case .sent: "sent"
        case .leftover: "leftover"
        case .data: "data"
        case .bytes: "bytes"
        case .accept: "accept"
        case .error: "error"
        case .stopped: "stopped"
        case .nothing: "nothing"
        }
    }

    /// The variables that it binds.
    var bindings: Bindings {
        switch self {
        case .line(let pattern, let name), .message(let pattern, let name), .leftover(let pattern, let name),
            .data(let pattern, let name):
            Bindings(groups: pattern, name: name)
        case .started, .sent, .bytes, .accept, .error, .stopped, .nothing: Bindings()
        }
    }
}

extension ProcessExpectation {
    /// As it is written.
    var word: String {
        switch self {
        case .listening: "listening"
        case .output: "output"
        case .noOutput: "no output"
        case .exit: "exit"
        case .memory: "memory"
        case .descriptors: "descriptors"
        }
    }

    /// The variables that it binds.
    var bindings: Bindings {
        switch self {
        case .output(let literal): Bindings(groups: .regex(literal), name: nil)
        case .listening, .noOutput, .exit, .memory, .descriptors: Bindings()
        }
    }
}

/// What an expectation binds once it is met.
struct Bindings {
    /// Their named groups; those of an optional pattern may stay unbound.
    var patterns: [(pattern: Pattern, isOptional: Bool)] = []
    /// The name behind `as`.
    var name: Name?
    var type = ValueType.bytes

    init(patterns: [(Pattern, isOptional: Bool)] = [], name: Name? = nil, type: ValueType = .bytes) {
        self.patterns = patterns.map { ($0.0, $0.isOptional) }
        self.name = name
        self.type = type
    }

    init(groups pattern: Pattern, name: Name?) { self.init(patterns: [(pattern, false)], name: name) }

    /// The names, without those of a table's cells.
    var names: [String] {
        patterns.flatMap { entry in
            if case .regex(let literal) = entry.pattern { literal.groupNames } else { [String]() }
        } + [name?.value].compactMap(\.self)
    }
}

extension Action {
    /// The variables that it binds.
    var bindings: Bindings {
        switch self {
        case .connection(.expect(let expectation)): expectation.bindings
        case .subject(.expect(let expectation)): expectation.bindings
        case .process(.expect(let expectation)): expectation.bindings
        case .server, .client, .connection, .subject, .process: Bindings()
        }
    }

    /// The actor that it names: the connection that it accepts.
    var acceptedName: Name? {
        switch self {
        case .server(.accept(as: let name)): name
        case .subject(.expect(.accept(as: let name))): name
        case .server, .client, .connection, .subject, .process: nil
        }
    }
}
