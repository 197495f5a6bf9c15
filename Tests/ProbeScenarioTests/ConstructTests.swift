import ProbeBase
import ProbeScenario
import Testing

/// Tests the syntax trees of whole scenarios.
@Suite struct ConstructTests {
    @Test func wholeLanguageCompiles() throws {
        let text = TestFiles.text(of: "whole-language.scn")
        let result = compile(text)
        #expect(result.rendered == "")
        #expect(result.plan?.cases.count == 180)
    }

    @Test func headerIsParsed() throws {
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
                .subject(capability: .halfClose),
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

    @Test func includesAreMerged() throws {
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

    /// Files that an include names must also be below the folder of the script that is run.
    @Test(
        arguments: [
            ("/etc/passwd", true), ("../a.scn", true), ("lib/../../a.scn", true), ("..", true), ("lib/up.scn", true),
            ("lib/far.scn", true), ("lib/near.scn", false), ("lib/../a.scn", false), ("./lib//near.scn", false),
        ], ["x.scn", "dir/x.scn", "/dir/x.scn", "/x.scn", "../x.scn", "./x.scn"])
    func includesStayBelowTheScriptsFolder(_ include: (path: String, isOutside: Bool), _ script: String) {
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

    /// The variants that `cuts` creates exceed the limit on bytes rather than the limit on cases.
    @Test func oversizedCutsAreReported() {
        let script = "scenario \"x\"\neach p = cuts(\"x\" * 70000000, 4)\nserver S\nS accept\n"
        let result = compile(script)
        let ids: [DiagnosticID] = result.diagnostics.map(\.id)
        #expect(ids.filter { $0 != .nothingTested } == [.tooManyCases])
        #expect(result.rendered.contains("the cuts of this value of 70000000 bytes exceed 64 MiB"))
        let many = compile("scenario \"x\"\neach p = cuts(\"x\" * 100, 4)\nserver S\nS accept\n")
        #expect(many.rendered.contains("the `each` declarations create more than 100000 cases"))
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
}
