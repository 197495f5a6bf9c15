import ProbeBase
import Testing

@testable import ProbeScenario

/// Tests the syntax trees of crowds.
struct CrowdConstructTests {
    private func action(_ text: String) throws -> CrowdAction {
        let start = text.hasPrefix("W start") ? "" : "W start { connect; send \"a\"; expect line }\n"
        let script = """
            scenario "x"
            let x = "x"
            let n = 5
            process P = prog
            crowd W = 20 clients -> P
            P start
            \(start)\(text)

            """
        let result = compile(script)
        // A script without an expectation causes only a warning.
        #expect(result.diagnostics.allSatisfy { $0.id == .nothingTested }, "\(result.rendered)")
        guard case .act(_, .crowd(let action), _) = try #require(result.plan?.scenario.steps.last).kind else {
            throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
        }
        return action
    }

    private func script(_ text: String) throws -> CrowdScript {
        guard case .start(nil, let script) = try action("W start { \(text) }") else {
            throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
        }
        return script
    }

    /// Returns the statement that follows a `connect`.
    private func statement(_ text: String) throws -> CrowdStatement {
        try #require(try script("connect; \(text)").statements.dropFirst().first)
    }

    private func declaration(_ text: String) throws -> ActorDeclaration {
        let result = compile(
            """
            scenario "x"
            server S
            process P = prog
            \(text)
            P start
            W start { wait 1s }
            W expect failed 0
            S expect no connection for 1ms

            """)
        return try #require(result.plan?.scenario.actors.last, "\(result.rendered)")
    }

    @Test func declarationsAreParsed() throws {
        let clients = try declaration("crowd W = 10000 clients -> S with receive-buffer 4KiB")
        guard case .crowd(let crowd) = clients.kind, case .clients(.actor(let target)) = crowd.role else {
            Issue.record("\(clients.kind)")
            return
        }
        #expect(crowd.count.kind == .integer(10_000) && target.value == "S")
        #expect(crowd.receiveBuffer?.kind == .integer(4096) && clients.tls == nil)
        let secret = try declaration("let n = 5\ncrowd W = n * 2 clients -> P tls name \"a.test\" alpn \"http/1.1\"")
        #expect(secret.tls?.name != nil && secret.tls?.protocols.count == 1)
        if case .crowd(let crowd) = secret.kind, case .clients(.actor) = crowd.role {} else { Issue.record("n * 2") }
        if case .crowd(let crowd) = try declaration("crowd W = 5 clients -> 127.0.0.1:6379").kind,
            case .clients(.address) = crowd.role
        {
        } else {
            Issue.record("address")
        }
        let servers = try declaration("crowd W = 5000 servers tls cert expired")
        if case .crowd(let crowd) = servers.kind, case .servers = crowd.role {} else { Issue.record("servers") }
        #expect(servers.tls?.certificate != nil)
    }

    @Test func startsAreParsed() throws {
        if case .start(2000?, let script) = try action("W start at 2000/s { connect; send \"x\" }") {
            #expect(script.statements.count == 2)
        } else {
            Issue.record("at 2000/s")
        }
        if case .start(nil, let script) = try action("W start {\n connect within 2s\n\n send \"x\"; wait 20ms\n}") {
            #expect(script.statements.map(\.within) == [.seconds(2), nil, nil])
        } else {
            Issue.record("lines")
        }
        if case .stop = try action("W stop") {} else { Issue.record("stop") }
    }

    @Test func sendsAreParsed() throws {
        func send(_ text: String) throws -> (SendStatement, isEndless: Bool) {
            guard case .send(let statement, let isEndless) = try statement("send \(text)").kind else {
                throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
            }
            return (statement, isEndless)
        }
        #expect(try !send("\"x\"").isEndless)
        #expect(try send("\"x\" every 10s").isEndless)
        #expect(try send("line \"x\" every 10s").isEndless)
        #expect(try send("line \"x\"").0.mode == .line)
        let pieces = try send("\"x\" | \"y\" every 10ms")
        #expect(!pieces.isEndless && pieces.0.pieces.count == 2)
        #expect(try !send("\"xyz\" in pieces of 1B every 10ms").isEndless)
        #expect(try !send("\"xyz\" cut at 1, 2 every 10ms").isEndless)
        #expect(try !send("\"xyz\" cut at random seed 7 at 10B/s").isEndless)
    }

    @Test func memberExpectationsAreParsed() throws {
        func wait(_ text: String) throws -> CrowdWait {
            guard case .expect(let wait) = try statement("expect \(text) within 1s").kind else {
                throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
            }
            return wait
        }
        if case .line(.any) = try wait("line") {} else { Issue.record("line") }
        if case .line(.value) = try wait("line \"x\"") {} else { Issue.record("line value") }
        if case .line(.value) = try wait("line x") {} else { Issue.record("line variable") }
        if case .line(.regex) = try wait("line /^2(\\d+)/i") {} else { Issue.record("line regex") }
        if case .count = try wait("10 bytes") {} else { Issue.record("bytes") }
        if case .count = try wait("n bytes") {} else { Issue.record("n bytes") }
        if case .count = try wait("n + 2 bytes") {} else { Issue.record("sum") }
        if case .until = try wait("until \"x\"") {} else { Issue.record("until") }
        if case .eof = try wait("eof") {} else { Issue.record("eof") }
        #expect(try statement("expect eof within 3s").within == .seconds(3))
        #expect(try statement("expect eof").within == nil)
    }

    @Test func otherStatementsAreParsed() throws {
        if case .wait(.milliseconds(20)) = try statement("wait 20ms").kind {} else { Issue.record("wait") }
        if case .close = try statement("close").kind {} else { Issue.record("close") }
        if case .reset = try statement("reset").kind {} else { Issue.record("reset") }
        if case .stopReading = try statement("stop reading").kind {} else { Issue.record("stop reading") }
        if case .acceptRest = try statement("ignore rest").kind {} else { Issue.record("ignore rest") }
        if case .read(_, .seconds(1)) = try statement("read 1B every 1s").kind {} else { Issue.record("read") }
        let script = try script("repeat { connect; send \"x\"; close; wait 1s }")
        guard case .repeats(let inner) = script.statements[0].kind else {
            Issue.record("repeat")
            return
        }
        #expect(inner.count == 4 && script.all.count == 5)
    }

    @Test(arguments: [
        ("connected 20", CrowdCount.connected, Comparison.greaterOrEqual), ("done 20", .done, .greaterOrEqual),
        ("alive 20", .alive, .equal), ("failed 0", .failed, .equal), ("alive >= 9", .alive, .greaterOrEqual),
        ("connected == n", .connected, .equal), ("failed < 1", .failed, .less), ("done != 3", .done, .notEqual),
    ])
    func countExpectationsAreParsed(_ text: String, _ count: CrowdCount, _ comparison: Comparison) throws {
        guard case .expect(.count(count, comparison, _)) = try action("W expect \(text) within 3s") else {
            Issue.record("\(text)")
            return
        }
    }

    @Test(arguments: [
        ("p99", 99.0), ("p50", 50), ("p99.9", 99.9), ("p99.99", 99.99), ("p0.5", 0.5), ("p100", 100), ("max", 100),
    ])
    func latencyExpectationsAreParsed(_ text: String, _ value: Double) throws {
        guard
            case .expect(.latency(let percentile, .lessOrEqual, .milliseconds(50), of: .line)) =
                try action("W expect latency \(text) <= 50ms of line")
        else {
            Issue.record("\(text)")
            return
        }
        #expect(percentile.value == value)
        #expect(percentile.text == (value == 100 ? "max" : text))
    }

    @Test func blockIsReportedAtItsFirstLine() throws {
        let result = compile(
            """
            scenario "x"
            server S
            crowd W = 20 clients -> S
            W start at 100/s {
              connect
              repeat { send "a"; wait 1s }
            }
            W expect connected 20

            """)
        let plan = try #require(result.plan, "\(result.rendered)")
        #expect(plan.sources.text(of: plan.scenario.steps[0].span) == "W start at 100/s {")
        guard case .act(_, .crowd(.start(_, let script)), _) = plan.scenario.steps[0].kind else { return }
        #expect(script.all.map { plan.sources.text(of: $0.span) } == ["connect", "repeat", "send \"a\"", "wait 1s"])
    }

    /// `crowd` begins a declaration only if a name and `=` follow it.
    @Test func keywordMayBeAName() {
        let text = """
            scenario "x"
            define begin { crowd start { connect; wait 1ms } }
            server S
            crowd crowd = 3 clients -> S
            client done -> S
            do begin
            crowd expect connected 3
            done connect
            S accept
            done send "a"
            S expect "a"
            let alive = "a"
            S send alive
            done expect alive
            crowd stop
            crowd start { connect }
            """
        let result = compile(text + "\n")
        #expect(result.diagnostics.isEmpty, "\(result.rendered)")
        let other = compile(
            "scenario \"x\"\nserver crowd\nclient C -> crowd\nC connect\ncrowd accept\nC send \"a\"\ncrowd expect \"a\"\n"
        )
        #expect(other.diagnostics.isEmpty, "\(other.rendered)")
        let variable = compile(
            "scenario \"x\"\nlet crowd = 5\nserver S\nclient C -> S\nC connect\nS accept\ncheck crowd == 5\n")
        #expect(variable.diagnostics.isEmpty, "\(variable.rendered)")
    }

    @Test func crowdServersAreTargets() {
        let text = """
            scenario "x"
            crowd V = 3 servers
            client C -> V
            subject T -> V
            proxy X -> V
            client D -> X
            process P = prog ${V.port} ${V.address}
            V start { expect line; send "a" }
            C connect
            T start
            D connect
            P start
            C expect "a"
            V expect alive 3
            """
        let result = compile(text + "\n")
        #expect(result.diagnostics.isEmpty, "\(result.rendered)")
    }

    @Test func crowdsAreFormatted() throws {
        let text = """
            scenario "x"
            server S
            crowd W=20 clients->S   with receive-buffer 4KiB
            crowd V   = 20 servers
            V start{wait 1s}
            W start at 2000/s{
            connect;send "a"|"b" every 10ms
              repeat{read 1B every 1s
              wait 1s}
            }
            W expect latency p99.9<=50ms of connect
            W expect alive>=18
            """
        guard case .formatted(let bytes) = ScenarioFormatter.format(path: "x.scn", bytes: Array(text.utf8)) else {
            Issue.record("not formatted")
            return
        }
        let expected = """
            scenario "x"
            server  S
            crowd   W = 20 clients -> S with receive-buffer 4KiB
            crowd   V = 20 servers
            V start { wait 1s }
            W start at 2000/s {
                connect
                send "a" | "b" every 10ms
                repeat {
                    read 1B every 1s
                    wait 1s
                }
            }
            W expect latency p99.9 <= 50ms of connect
            W expect alive >= 18

            """
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
}
