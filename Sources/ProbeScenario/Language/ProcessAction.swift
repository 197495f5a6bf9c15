import ProbeBase

/// An action of a process.
package enum ProcessAction: LanguageElement {
    case start
    case send(SendStatement)
    case expect(ProcessExpectation)
    case signal(ProcessSignal)
    case stop
}

/// What a process is expected to do.
package enum ProcessExpectation: LanguageElement {
    case listening
    case output(RegexLiteral)
    case noOutput(RegexLiteral, for: Duration?)
    case exit(ExitExpectation)
    case resource(ResourceExpectation)

    package enum ExitExpectation: Sendable {
        case any
        case status(Expression)
        case signal(ProcessSignal)
    }
}

// MARK: The table

extension ProcessAction {
    static let phrases: [Phrase<ActionParser, ProcessAction>] = [
        Phrase(
            LanguageEntry(
                "start",
                "starts the program. After the program has exited or has been stopped, it can be started again, in the same folder",
                example: "start")
        ) { _ throws(Abandoned) in .start },
        Phrase(sendEntry) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: false)) },
        Phrase(
            LanguageEntry(
                "signal",
                "sends a signal to the program itself, not to its process group. The names are those that `kill -l` lists, with or without `SIG`",
                example: "signal TERM", after: "P start")
        ) { parser throws(Abandoned) in .signal(try parser.values.parseSignal()) },
        Phrase(
            LanguageEntry(
                "stop",
                "sends SIGTERM to the program's whole process group, and SIGKILL to the processes that remain after 500 ms. The exit status is not judged",
                example: "stop", after: "P start")
        ) { _ throws(Abandoned) in .stop },
    ]
    static let entries = index(phrases)

    private static let sendEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send", "writes the bytes to the program's stdin, unchanged", example: "send \"x\\n\"", after: "P start",
            timing: .send)
        entry.pointsAtOperand = true
        return entry
    }()

    var spelling: String {
        switch self {
        case .start: "start"
        case .send: "send"
        case .expect: "expect"
        case .signal: "signal"
        case .stop: "stop"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .send(let statement): [.send(statement, .process)]
        case .expect(let expectation): expectation.values
        case .start, .signal, .stop: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .start: .startsProcess
        case .stop, .expect(.exit): .endsProcess
        case .expect(.output), .expect(.noOutput): .readsOutput
        case .expect(.listening), .expect(.resource), .send, .signal: .usesProcess
        }
    }
}

extension ProcessExpectation {
    private static let resources = ResourceExpectation.phrases(
        of: "the program and all its descendants", since: "the `start` of the program", after: "P start"
    ).map { phrase in phrase.map { ProcessExpectation.resource($0) } }

    private static let own: [Phrase<ExpectationParser, ProcessExpectation>] = [
        Phrase(
            LanguageEntry(
                "listening",
                "expects the kernel to list a listening socket that a process of the program's group holds. If the script names `${P.port}` or connects to `P`, the socket must be on the first port of `P`; otherwise any port is accepted. The harness never connects to the port to check this",
                example: "expect listening", after: "P start", timing: .both),
            when: { $0.isAlone }
        ) { _ throws(Abandoned) in .listening },
        Phrase(
            LanguageEntry(
                "output", ["expect output /re/"],
                "expects a line of stdout or stderr to match the regex. The search proceeds line by line from the end of the last match; `^` and `$` are the start and the end of a line. A line is searched once it has ended; an unfinished line, such as a prompt, is searched when the program exits or at the deadline, so give such a step a short `within`",
                example: "expect output /ready/", after: "P start", timing: .both),
            when: { !$0.isVariableHere }
        ) { parser throws(Abandoned) in .output(try parser.literals.parseRegex("a regex", "expect output /ready/")) },
        Phrase(
            LanguageEntry(
                "no output", ["expect no output /re/"],
                "expects that no line printed since the last `start` matches the regex; with `for 1s`, the step first waits for 1 s",
                example: "expect no output /error/", after: "P start", timing: .silentOutput), needsAllWords: true
        ) { parser throws(Abandoned) in
            let regex = try parser.literals.parseRegex("a regex", "expect no output /error/")
            return .noOutput(
                regex, for: parser.cursor.isWord("for") ? try parser.parseFor("expect no output /error/ for 1s") : nil)
        },
        Phrase(
            LanguageEntry(
                "exit", ["expect exit 0", "expect exit signal KILL", "expect exit"],
                "expects the program to exit with the given status, to be killed by the given signal, or to end in any way",
                example: "expect exit 0", after: "P start",
                timing: .both),
            when: { $0.isAlone || $0.token(ahead: 1).kind == .number || $0.token(ahead: 1).kind == .word }
        ) { parser throws(Abandoned) in .exit(try parser.parseExit()) },
    ]
    static let phrases = own + resources
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .listening: "listening"
        case .output: "output"
        case .noOutput: "no output"
        case .exit: "exit"
        case .resource(let expectation): expectation.resource.rawValue
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .output(let literal), .noOutput(let literal, _): [.regex(literal)]
        case .exit(.status(let status)): [.integer(status, "an exit status", 0...255)]
        case .resource(let expectation): expectation.values
        case .exit(.any), .exit(.signal), .listening: []
        }
    }

    var bindings: Bindings {
        switch self {
        case .output(let literal): Bindings(groups: .regex(literal), name: nil)
        case .resource(let expectation): expectation.bindings
        case .listening, .noOutput, .exit: Bindings()
        }
    }
}
