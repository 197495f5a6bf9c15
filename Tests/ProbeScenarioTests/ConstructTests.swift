import ProbeBase
import ProbeScenario
import Testing

/// Each construct of the language, as it stands in the tree.
@Suite struct ConstructTests {
    /// The kind of the last step of a script whose other steps make what it needs.
    private func last(_ step: String, _ preparation: String = "") throws -> Step.Kind {
        let text = """
            scenario "x"
            server  S
            client  C -> S
            client  D
            subject T -> S
            process P = prog
            define login { note "in" }
            table replies = "a" /b/, "c" /d/
            let x = "x"
            let n = 5
            P start
            T start
            C connect
            S accept
            D connect to 127.0.0.1:80
            \(preparation)
            \(step)

            """
        let result = compile(text)
        #expect(result.rendered == "")
        return try #require(result.plan?.scenario.steps.last).kind
    }

    private func action(_ step: String, _ preparation: String = "") throws -> Action {
        guard case .act(_, let action, _) = try last(step, preparation) else {
            Issue.record("\(step) is no act")
            return .connection(.close)
        }
        return action
    }

    private func connection(_ step: String) throws -> ConnectionExpectation {
        guard case .connection(.expect(let expectation)) = try action(step) else {
            Issue.record("\(step) is no expectation of a connection")
            return .eof
        }
        return expectation
    }

    private func subject(_ step: String) throws -> SubjectExpectation {
        guard case .subject(.expect(let expectation)) = try action(step) else {
            Issue.record("\(step) is no expectation of a subject")
            return .sent
        }
        return expectation
    }

    private func process(_ step: String) throws -> ProcessExpectation {
        guard case .process(.expect(let expectation)) = try action(step) else {
            Issue.record("\(step) is no expectation of a process")
            return .listening
        }
        return expectation
    }

    @Test func wholeLanguage() throws {
        let text = TestFiles.text(of: "whole-language.scn")
        let result = compile(text)
        #expect(result.rendered == "")
        #expect(result.plan?.cases.count == 180)
    }

    @Test func header() throws {
        let text = """
            scenario "t"
            about "a"
            because "o/r#1"
            because "o/r#2"
            level should
            tag framing, partial
            tag more
            require capture
            require ipv6
            require root
            require command redis-server
            require command python3.11
            require subject half-close
            timeout 2s
            case-timeout 1.5min
            framing nul
            max-line 2KiB
            server S on [::1]:8080 backlog 0 with receive-buffer 4KiB, send-buffer 1KiB, nodelay off, keepalive 5s
            server R on 127.0.0.1
            subject T -> S with connect-timeout 500ms, idle-timeout 1s
            subject L listens
            client C -> L with keepalive on
            T start
            L start
            S accept
            R accept
            C connect
            C expect eof

            """
        let result = compile(text)
        let scenario = try #require(result.plan?.scenario, "\(result.rendered)")
        #expect(scenario.title.value == "t" && scenario.about == "a" && scenario.because == ["o/r#1", "o/r#2"])
        #expect(scenario.level == .should && scenario.tags == ["framing", "partial", "more"])
        #expect(
            scenario.requirements.map(\.kind) == [
                .capture, .ipv6, .root, .command("redis-server"), .command("python3.11"),
                .subject(capability: "half-close"),
            ])
        #expect(scenario.timeout == .seconds(2) && scenario.caseTimeout == .seconds(90) && scenario.framing == .nul)
        #expect(scenario.maxLine?.kind == .integer(2_048))
        guard case .server(let address?, let backlog?, let options) = scenario.actors[0].kind else {
            Issue.record("no server")
            return
        }
        #expect(
            address.host == "::1" && address.port?.kind == .integer(8_080) && backlog.kind == .integer(0)
                && options.count == 4)
        guard case .server(let free?, nil, _) = scenario.actors[1].kind else { return }
        #expect(free.port == nil)
        guard case .subject(.actor(let target)?, let limits) = scenario.actors[2].kind else { return }
        #expect(target.value == "S" && limits.connectTimeout == .milliseconds(500) && limits.idleTimeout == .seconds(1))
        guard case .subject(nil, _) = scenario.actors[3].kind else {
            Issue.record("the subject does not listen")
            return
        }
    }

    @Test func sends() throws {
        func send(_ text: String) throws -> SendStatement {
            switch try action(text) {
            case .connection(.send(let statement)), .subject(.send(let statement)), .process(.send(let statement)):
                return statement
            case .server, .client, .connection, .subject, .process:
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
        #expect(try send("S send line \"x\"").mode == .line)
        #expect(try send("C send urgent \"!\"").mode == .urgent)
        #expect(try send("C start sending x * 10").inBackground)
        #expect(try send("T send line x").mode == .line)
        #expect(try send("P send \"x\\n\"").mode == .bytes)
    }

    @Test func verbs() throws {
        if case .server(.accept(as: let name?)) = try action("S accept as A") {
            #expect(name.value == "A")
        } else {
            Issue.record("accept as")
        }
        if case .server(.stopListening) = try action("S stop listening") {} else { Issue.record("stop listening") }
        if case .server(.listen) = try action("S listen", "S stop listening") {} else { Issue.record("listen") }
        if case .client(.connect(to: nil, .refused)) = try action("C connect refused", "C close") {
        } else {
            Issue.record("refused")
        }
        if case .client(.connect(to: nil, .timesOut)) = try action("C connect timeout within 1s", "C close") {
        } else {
            Issue.record("timeout")
        }
        if case .client(.connect(to: let address?, .succeeds)) = try action("D connect to [::1]:(n * 2)", "D close") {
            #expect(address.host == "::1")
        } else {
            Issue.record("connect to")
        }
        if case .connection(.close) = try action("C close") {} else { Issue.record("close") }
        if case .connection(.halfClose) = try action("C half-close") {} else { Issue.record("half-close") }
        if case .connection(.reset) = try action("C reset") {} else { Issue.record("reset") }
        if case .connection(.stopReading) = try action("C stop reading") {} else { Issue.record("stop reading") }
        if case .subject(.resumeReading) = try action("T resume reading") {} else { Issue.record("resume reading") }
        if case .connection(.readSlowly(_, every: .milliseconds(100))) = try action("C read 1B every 100ms") {
        } else {
            Issue.record("slow")
        }
        if case .connection(.set(.noDelay(false))) = try action("C set nodelay off") {} else { Issue.record("nodelay") }
        if case .connection(.set(.keepAliveEvery(.seconds(5)))) = try action("C set keepalive 5s") {
        } else {
            Issue.record("keepalive")
        }
        if case .connection(.ignoreRest) = try action("C ignore rest") {} else { Issue.record("ignore rest") }
        if case .connection(.framing(.u16)) = try action("C framing u16") {} else { Issue.record("framing") }
        if case .subject(.read(.length)) = try action("T read 10 bytes within 1s") {
        } else {
            Issue.record("read length")
        }
        if case .subject(.read(.until)) = try action("T read until \"\\r\\n\"") {} else { Issue.record("read until") }
        if case .subject(.read(.any)) = try action("T read any bytes") {} else { Issue.record("read any") }
        if case .subject(.stop) = try action("T stop") {} else { Issue.record("stop") }
        if case .process(.signal(let signal)) = try action("P signal SIGTERM") {
            #expect(signal == ProcessSignal(name: "TERM", number: 15))
        } else {
            Issue.record("signal")
        }
    }

    @Test func expectationsOfConnections() throws {
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
        if case .urgent = try connection("C expect urgent \"!\"") {} else { Issue.record("urgent") }
        if case .message(.value, as: nil) = try connection("C expect message x") {} else { Issue.record("message") }
        if case .eof = try connection("C expect eof") {} else { Issue.record("eof") }
        if case .reset = try connection("C expect reset within 1s") {} else { Issue.record("reset") }
        if case .closed = try connection("C expect closed after 5ms") {} else { Issue.record("closed") }
        if case .nothing(for: .milliseconds(200)) = try connection("C expect nothing for 200ms") {
        } else {
            Issue.record("nothing")
        }
        if case .stalled(for: .seconds(1)) = try connection("C expect stalled for 1s") {
        } else {
            Issue.record("stalled")
        }
        if case .sent = try connection("C expect sent") {} else { Issue.record("sent") }
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

    @Test func expectationsOfSubjectsAndProcesses() throws {
        if case .started = try subject("T expect started") {} else { Issue.record("started") }
        if case .message = try subject("T expect message \"x\"") {} else { Issue.record("message") }
        if case .sent = try subject("T expect sent") {} else { Issue.record("sent") }
        if case .leftover = try subject("T expect leftover \"tw\"") {} else { Issue.record("leftover") }
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
        if case .stopped(reason: "too-long") = try subject("T expect stopped too-long within 1s") {
        } else {
            Issue.record("stopped")
        }
        if case .stopped(reason: nil) = try subject("T expect stopped within 1s") {
        } else {
            Issue.record("any stop")
        }
        if case .listening = try process("P expect listening") {} else { Issue.record("listening") }
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
        if case .memory(.lessOrEqual, _) = try process("P expect memory <= 64MiB") {
        } else {
            Issue.record("memory")
        }
        if case .descriptors(.less, _) = try process("P expect descriptors < 100") {
        } else {
            Issue.record("descriptors")
        }
    }

    @Test func flow() throws {
        if case .wait(.milliseconds(50)) = try last("wait 50ms") {} else { Issue.record("wait") }
        if case .note = try last("note \"${S.port}\"") {} else { Issue.record("note") }
        if case .assign = try last("let y = x + \"z\"") {} else { Issue.record("let") }
        if case .check(_, .compare(.notEqual), .value) = try last("check x != \"y\"") {} else { Issue.record("!=") }
        if case .check(_, .matches, .regex) = try last("check x matches /y/") {} else { Issue.record("matches") }
        if case .check(_, .contains, .value) = try last("check x contains \"y\"") {} else { Issue.record("contains") }
        if case .check(_, .lacks, .value) = try last("check x lacks \"y\"") {} else { Issue.record("lacks") }
        if case .loop(_, .range, let block) = try last("for i in 1..n { C send \"${i}\" }") {
            #expect(block.steps.count == 1)
        } else {
            Issue.record("for")
        }
        if case .loop(let names, .table, _) = try last("for a, b in replies { C send a; S expect line b }") {
            #expect(names.map(\.value) == ["a", "b"])
        } else {
            Issue.record("for in table")
        }
        if case .invoke(let name) = try last("do login") { #expect(name.value == "login") } else { Issue.record("do") }
        if case .sequence = try last("do { C send \"x\" }") {} else { Issue.record("do block") }
        if case .together(let block) = try last("together {\n C send \"x\"\n S expect \"x\"\n}") {
            #expect(block.steps.count == 2)
        } else {
            Issue.record("together")
        }
        if case .either(let branches) = try last(
            "either { C expect \"x\" } or {\n C expect \"y\" \n} or { S accept as A }")
        {
            #expect(branches.count == 3)
        } else {
            Issue.record("either")
        }
        if case .retry(every: .milliseconds(250), within: .seconds(20), _) = try last(
            "retry every 250ms within 20s { C send \"x\" }")
        {
        } else {
            Issue.record("retry")
        }
        if case .finally = try last("finally { P stop }") {} else { Issue.record("finally") }
        if case .whenever(let name, let regex, _) = try last(
            "whenever C gets line /^PING (?<t>.*)/ { C send line \"${t}\" }")
        {
            #expect(name.value == "C" && regex.groupNames == ["t"])
        } else {
            Issue.record("whenever")
        }
    }

    @Test func wire() throws {
        func statement(_ text: String) throws -> WireStatement {
            guard case .wire(let statement, _) = try last(text) else { return .noReset }
            return statement
        }
        func flow(_ text: String) throws -> HalfConnectionStatement {
            guard case .halfConnection(let from, let to, let flow) = try statement("wire S -> C \(text)") else {
                return .urgent
            }
            #expect(from.value == "S" && to.value == "C")
            return flow
        }
        if case .bytes = try flow("bytes x") {} else { Issue.record("bytes") }
        if case .segmentCount(.equal, _) = try flow("segments 3") {} else { Issue.record("segments 3") }
        if case .segmentCount(.equal, _) = try flow("segments n") {} else { Issue.record("segments n") }
        if case .segmentCount(.greaterOrEqual, _) = try flow("segments >= 3") {} else { Issue.record("segments >= 3") }
        if case .segments(let values) = try flow("segments \"a\", x, \"b\"") {
            #expect(values.count == 3)
        } else {
            Issue.record("segments")
        }
        if case .segments(let values) = try flow("segments x") {
            #expect(values.count == 1)
        } else {
            Issue.record("segments x")
        }
        if case .gap(index: nil, .greaterOrEqual, .milliseconds(25)) = try flow("gap >= 25ms") {
        } else {
            Issue.record("gap")
        }
        if case .gap(index: 1, .less, .milliseconds(25)) = try flow("gap 1 < 25ms") {} else { Issue.record("gap 1") }
        if case .largestSegment(.lessOrEqual, _) = try flow("largest segment <= 1460B") {
        } else {
            Issue.record("largest")
        }
        if case .longestLine = try flow("longest line <= 1024") {} else { Issue.record("longest") }
        if case .lines(.crlf) = try flow("lines crlf") {} else { Issue.record("lines") }
        if case .messages(.equal, _) = try flow("messages 5") {} else { Issue.record("messages") }
        if case .firstByte(within: .milliseconds(10)) = try flow("first byte within 10ms") {
        } else {
            Issue.record("first byte")
        }
        if case .zeroWindow = try flow("zero window within 1s") {} else { Issue.record("zero window") }
        if case .window(.greaterOrEqual, _) = try flow("window >= 4KiB") {} else { Issue.record("window") }
        if case .urgent = try flow("urgent") {} else { Issue.record("urgent") }
        if case .retransmissions(.equal, _) = try flow("retransmissions 0") {} else { Issue.record("retransmissions") }
        if case .fin(let from, to: nil) = try statement("wire fin from C") {
            #expect(from.value == "C")
        } else {
            Issue.record("fin")
        }
        if case .rst(_, to: _?) = try statement("wire rst from C to S") {} else { Issue.record("rst") }
        if case .noReset = try statement("wire no rst") {} else { Issue.record("no rst") }
        if case .closedFirst = try statement("wire closed by C first") {} else { Issue.record("closed by") }
        if case .handshakeComplete = try statement("wire handshake complete") {} else { Issue.record("handshake") }
        if case .noRetransmission = try statement("wire no retransmission") {
        } else {
            Issue.record("no retransmission")
        }
        if case .packets(.lessOrEqual, _) = try statement("wire packets <= 20") {} else { Issue.record("packets") }
    }

    @Test func includesAreFoldedIn() throws {
        let files = [
            "lib/common.scn": "let who = \"bob\"\ninclude \"more.scn\"\n",
            "lib/more.scn": "define greet { C send line who; S expect line \"${who}\" }\ntimeout 1s\n",
        ]
        let text =
            "scenario \"x\"\ninclude \"lib/common.scn\"\ninclude \"lib/more.scn\"\nserver S\nclient C -> S\nC connect\nS accept\ndo greet\n"
        let result = compile(text, files: files)
        let plan = try #require(result.plan, "\(result.rendered)")
        #expect(plan.sources.files.map(\.path) == ["test.scn", "lib/common.scn", "lib/more.scn"])
        #expect(plan.scenario.timeout == .seconds(1))
        #expect(plan.scenario.definitions["greet"]?.steps.first?.span.file == 2)
        let inFolder = compile(
            "scenario \"x\"\ninclude \"a.scn\"\n", path: "dir/x.scn", files: ["dir/a.scn": "server S\n"])
        #expect(inFolder.diagnostics.map(\.id) == [.emptyScript])
    }

    /// Also what an include names is confined beneath the folder of the script that is run.
    @Test(
        arguments: [
            ("/etc/passwd", true), ("../a.scn", true), ("lib/../../a.scn", true), ("..", true), ("lib/up.scn", true),
            ("lib/far.scn", true), ("lib/near.scn", false), ("lib/../a.scn", false), ("./lib//near.scn", false),
        ], ["x.scn", "dir/x.scn", "/dir/x.scn", "/x.scn", "../x.scn", "./x.scn"])
    func includesStayBeneathTheScript(_ include: (path: String, isOutside: Bool), _ script: String) {
        let folder = String(script.dropLast("x.scn".count))
        var files: [String: String] = [:]
        for (name, text) in [
            "a.scn": "server A\n", "lib/near.scn": "include \"../a.scn\"\n", "lib/up.scn": "include \"../../a.scn\"\n",
            "lib/far.scn": "include \"/etc/passwd\"\n",
        ] {
            files[folder + name] = text
            if folder == "./" { files[name] = text }
        }
        files["/etc/passwd"] = "root:x:0:0:secret\n"
        let ids = compile("scenario \"x\"\ninclude \"\(include.path)\"\n", path: script, files: files)
            .diagnostics.map(\.id)
        #expect(ids.contains(.outsideFolder) == include.isOutside)
        #expect(!ids.contains(.includeMissing))
    }

    /// It is the bytes that are too many, not the cases.
    @Test func cutsThatAreTooLargeAreTold() {
        let script = "scenario \"x\"\neach p = cuts(\"x\" * 70000000, 4)\nserver S\nS accept\n"
        let result = compile(script)
        #expect(result.diagnostics.map(\.id) == [.tooManyCases])
        #expect(result.rendered.contains("the cuts of this value of 70000000 bytes come to more than 64 MiB"))
        let many = compile("scenario \"x\"\neach p = cuts(\"x\" * 100, 4)\nserver S\nS accept\n")
        #expect(many.rendered.contains("this makes more than 100000 cases"))
    }

    @Test func stepsHaveNumbersSpansAndFocus() throws {
        let text =
            "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\ndo {\n  S send \"ab\"\n  C expect line /x/ within 1s\n}\n"
        let plan = try #require(compile(text).plan)
        var ids: [Int] = []
        func visit(_ steps: [Step]) {
            for step in steps {
                ids.append(step.id)
                if case .sequence(let block) = step.kind { visit(block.steps) }
            }
        }
        visit(plan.scenario.steps)
        #expect(ids == [0, 1, 2, 3, 4])
        guard case .sequence(let block) = plan.scenario.steps[2].kind else { return }
        #expect(plan.sources.text(of: plan.scenario.steps[2].span) == "do {")
        #expect(plan.sources.text(of: block.steps[0].span) == "S send \"ab\"")
        #expect(plan.sources.text(of: block.steps[0].focus) == "\"ab\"")
        #expect(plan.sources.text(of: block.steps[1].focus) == "line /x/")
        #expect(plan.sources.location(of: block.steps[1].span).description == "test.scn:8:3")
    }

    @Test func featuresHaveTheTitlesOfTheirWords() {
        #expect(Feature.allCases.count == 11)
        #expect(Feature.allCases.allSatisfy { $0.title.first == "`" })
    }
}
