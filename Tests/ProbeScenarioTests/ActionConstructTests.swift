import ProbeBase
import ProbeScenario
import Testing

/// Tests the syntax trees of verbs and expectations that contain values. `LanguageTableTests` parses the example of
/// each verb and expectation.
@Suite struct ActionConstructTests {
    private func action(_ step: String, _ preparation: String = "") throws -> Action {
        guard case .act(_, let action, _) = try lastStep(step, preparation) else {
            Issue.record("\(step) is not an act")
            return .connection(.close)
        }
        return action
    }

    private func connection(_ step: String) throws -> ConnectionExpectation<Parsed> {
        guard case .connection(.expect(let expectation)) = try action(step) else {
            Issue.record("\(step) is not an expectation of a connection")
            return .eof
        }
        return expectation
    }

    private func subject(_ step: String, _ preparation: String = "") throws -> SubjectExpectation {
        guard case .subject(.expect(let expectation)) = try action(step, preparation) else {
            Issue.record("\(step) is not an expectation of a subject")
            return .sent
        }
        return expectation
    }

    private func process(_ step: String) throws -> ProcessExpectation {
        guard case .process(.expect(let expectation)) = try action(step) else {
            Issue.record("\(step) is not an expectation of a process")
            return .listening
        }
        return expectation
    }

    @Test func sendsAreParsed() throws {
        func send(_ text: String) throws -> SendStatement {
            switch try action(text) {
            case .connection(.send(let statement)), .subject(.send(let statement)), .process(.send(let statement)):
                return statement
            case .server, .client, .connection, .subject, .process, .proxy, .crowd:
                throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
            }
        }
        let plain = try send("S send \"a\" | \"b\" every 30ms")
        #expect(plain.mode == .bytes && plain.pieces.count == 2 && !plain.inBackground)
        if case .every(.milliseconds(30)) = plain.pace {} else { Issue.record("every") }
        if case .at(let offsets) = try send("S send \"abcdefgh\" cut at 3, 7").cut {
            #expect(offsets.count == 2)
        } else {
            Issue.record("cut")
        }
        if case .inPieces = try send("S send x in pieces of 2B at 10B/s").cut {} else { Issue.record("pieces") }
        if case .random = try send("S send x cut at random seed 7").cut {} else { Issue.record("random") }
        #expect(try send("S send \"QUIT\" cut at 1 with fin every 5ms").carriesFIN)
        #expect(try !send("S send \"QUIT\"").carriesFIN)
        #expect(try send("S send line \"x\"").mode == .line)
        #expect(try send("C send urgent \"!\"").mode == .urgent)
        #expect(try send("C start sending x * 10").inBackground)
        #expect(try send("T send line x").mode == .line)
        #expect(try send("P send \"x\\n\"").mode == .bytes)
        if case .subject(.sendEarly(let early)) = try action("T send early line \"x\"") {
            #expect(early.mode == .line)
        } else {
            Issue.record("send early")
        }
        if case .subject(.framing(.u16, nil)) = try action("T framing u16") {} else { Issue.record("framing") }
        if case .subject(.framing(.delimiter([69, 0]), .some)) = try action(#"T framing "E\0" behind 2 lines"#) {
        } else {
            Issue.record("framing after messages")
        }
    }

    @Test func verbsAreParsed() throws {
        if case .server(.accept(as: let name?, _, nil)) = try action("S accept as A") {
            #expect(name.value == "A")
        } else {
            Issue.record("accept as")
        }
        if case .client(.connect(to: nil, .refused, nil)) = try action("C connect refused", "C close") {
        } else {
            Issue.record("refused")
        }
        if case .client(.connect(to: nil, .timesOut, nil)) = try action("C connect timeout within 1s", "C close") {
        } else {
            Issue.record("timeout")
        }
        if case .client(.connect(to: let address?, .succeeds, nil)) = try action(
            "D connect to [::1]:(n * 2)", "D close")
        {
            #expect(address.host == "::1")
        } else {
            Issue.record("connect to")
        }
        if case .connection(.readSlowly(_, every: .milliseconds(100))) = try action("C read 1B every 100ms") {
        } else {
            Issue.record("slow")
        }
        if case .connection(.set(.noDelay(false))) = try action("C set nodelay off") {} else { Issue.record("nodelay") }
        if case .connection(.set(.keepAliveEvery(.seconds(5)))) = try action("C set keepalive 5s") {
        } else {
            Issue.record("keepalive")
        }
        if case .connection(.framing(.u16)) = try action("C framing u16") {} else { Issue.record("framing") }
        if case .connection(.framing(.delimiter(Array("END\0".utf8)))) = try action(#"C framing "END\0""#) {
        } else {
            Issue.record("framing of a delimiter")
        }
        if case .connection(.framing(.lf)) = try action(#"C framing "\n""#) {} else { Issue.record("framing of LF") }
        if case .subject(.read(.length)) = try action("T read 10 bytes within 1s") {
        } else {
            Issue.record("read length")
        }
        if case .subject(.read(.until)) = try action("T read until \"\\r\\n\"") {} else { Issue.record("read until") }
        if case .subject(.startTLS(let options)) = try action(
            "T start tls name \"chat.test\" alpn \"a\" \"b\" version 1.2")
        {
            #expect(options.name != nil && options.protocols.count == 2 && options.version == .tls12)
        } else {
            Issue.record("start tls")
        }
        if case .process(.signal(let signal)) = try action("P signal SIGTERM") {
            #expect(signal == ProcessSignal(name: "TERM", number: 15))
        } else {
            Issue.record("signal")
        }
    }

    @Test func connectionExpectationsAreParsed() throws {
        if case .bytes = try connection("C expect x + \"y\"") {} else { Issue.record("bytes") }
        if case .line(.value, as: nil) = try connection("C expect line \"x\"") {} else { Issue.record("line") }
        if case .line(.regex(let regex), as: nil) = try connection("C expect line /(?<a>x)(?<b>y)/") {
            #expect(regex.groupNames == ["a", "b"])
        } else {
            Issue.record("regex")
        }
        if case .line(.any, as: let name?) = try connection("C expect line as y") {
            #expect(name.value == "y")
        } else {
            Issue.record("as")
        }
        if case .linesInAnyOrder(let lines) = try connection("C expect lines in any order \"a\", /b/, optional /c/") {
            #expect(lines.map(\.isOptional) == [false, false, true])
        } else {
            Issue.record("any order")
        }
        if case .untilLine(.regex, as: _?) = try connection("C expect until line /^250 / as y") {
        } else {
            Issue.record("until line")
        }
        if case .count(_, as: _?) = try connection("C expect 10 bytes as y") {} else { Issue.record("count") }
        if case .count(_, as: nil) = try connection("C expect n bytes") {} else { Issue.record("n bytes") }
        if case .count(_, as: nil) = try connection("C expect (n + 1) bytes") {} else { Issue.record("(n + 1) bytes") }
        if case .until(_, as: _?) = try connection("C expect until \"\\0\" as y") {} else { Issue.record("until") }
        if case .anyBytes(as: _?) = try connection("C expect any bytes as y") {} else { Issue.record("any bytes") }
        for format in IntegerFormat.allCases {
            if case .integer(format, as: _?) = try connection("C expect \(format.rawValue) as y") {
            } else {
                Issue.record("\(format)")
            }
        }
        if case .message(.value, as: nil) = try connection("C expect message x") {} else { Issue.record("message") }
        if case .nothing(for: .milliseconds(200)) = try connection("C expect nothing for 200ms") {
        } else {
            Issue.record("nothing")
        }
        if case .stalled(for: .seconds(1)) = try connection("C expect stalled for 1s") {
        } else {
            Issue.record("stalled")
        }
        if case .sendFailed(reason: "reset") = try connection("C expect send failed reset") {
        } else {
            Issue.record("failed")
        }
        if case .server(.expect(.noConnection(for: .milliseconds(500)))) = try action(
            "S expect no connection for 500ms")
        {
        } else {
            Issue.record("no connection")
        }
    }

    @Test func subjectAndProcessExpectationsAreParsed() throws {
        if case .message = try subject("T expect message \"x\"") {} else { Issue.record("message") }
        if case .leftover = try subject("T expect leftover \"tw\"") {} else { Issue.record("leftover") }
        if case .lost(reason: "eof", as: nil) = try subject("T expect lost eof within 1s") {
        } else {
            Issue.record("lost")
        }
        if case .lost(reason: nil, as: let name?) = try subject("T expect lost as n") {
            #expect(name.value == "n")
        } else {
            Issue.record("lost as")
        }
        if case .attemptFailed(reason: "refused") = try subject("T expect attempt-failed refused") {
        } else {
            Issue.record("attempt-failed")
        }
        if case .attemptFailed(reason: nil) = try subject("T expect attempt-failed after 50ms") {
        } else {
            Issue.record("attempt-failed")
        }
        if case .data = try subject("T expect data \"tw\"") {} else { Issue.record("data") }
        if case .accept(as: let name) = try subject("T expect accept as A") {
            #expect(name.value == "A")
        } else {
            Issue.record("accept")
        }
        if case .error("already-started") = try subject("T expect error already-started") {
        } else {
            Issue.record("error")
        }
        if case .stopped(reason: "too-long", code: nil) = try subject("T expect stopped too-long within 1s") {
        } else {
            Issue.record("stopped")
        }
        if case .stopped(reason: nil, code: nil) = try subject("T expect stopped within 1s") {
        } else {
            Issue.record("any stop")
        }
        if case .output = try process("P expect output /x/") {} else { Issue.record("output") }
        if case .noOutput(_, for: nil) = try process("P expect no output /x/") {} else { Issue.record("no output") }
        if case .noOutput(_, for: .seconds(1)) = try process("P expect no output /x/ for 1s") {
        } else {
            Issue.record("for")
        }
        if case .exit(.status) = try process("P expect exit 0") {} else { Issue.record("exit 0") }
        if case .exit(.any) = try process("P expect exit") {} else { Issue.record("exit") }
        if case .exit(.signal(let signal)) = try process("P expect exit signal KILL") {
            #expect(signal.number == 9)
        } else {
            Issue.record("exit signal")
        }
    }

    @Test func processesAndSubjectsShareResourceSyntax() throws {
        func both(_ text: String) throws -> [ResourceExpectation] {
            guard case .resource(let ofProcess) = try process("P \(text)"),
                case .resource(let ofSubject) = try subject("T \(text)")
            else {
                Issue.record("\(text)")
                return []
            }
            return [ofProcess, ofSubject]
        }
        for wanted in try both("expect memory <= 64MiB") {
            #expect(wanted.resource == .memory)
            if case .amount(.lessOrEqual, _) = wanted.wanted {} else { Issue.record("memory") }
        }
        for wanted in try both("expect descriptors < 100") {
            #expect(wanted.resource == .descriptors)
            if case .amount(.less, _) = wanted.wanted {} else { Issue.record("descriptors") }
        }
        for wanted in try both("expect threads as n") {
            #expect(wanted.resource == .threads)
            if case .any(let name) = wanted.wanted { #expect(name.value == "n") } else { Issue.record("threads") }
        }
        for wanted in try both("expect cpu <= 100ms") {
            #expect(wanted.resource == .cpu)
            if case .time(.lessOrEqual, .milliseconds(100)) = wanted.wanted {} else { Issue.record("cpu") }
        }
    }
}
