import ProbeBase
import Testing

@testable import ProbeScenario

/// Tests the syntax trees of a proxy's steps.
struct ProxyConstructTests {
    private func action(_ text: String) throws -> ProxyAction {
        guard case .act(_, .proxy(let action), _) = try lastStep(text, "X accept\n") else {
            throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
        }
        return action
    }

    private func forward(_ text: String) throws -> (ForwardStyle<Parsed>, hasCount: Bool, ConversationSide) {
        guard case .forward(let statement, let count, let side) = try action("X forward \(text)") else {
            throw EvaluationError(.overflow, span: SourceSpan(start: 0, end: 0))
        }
        return (statement, count != nil, side)
    }

    @Test func forwardsAreParsed() throws {
        let plain = try forward("to client")
        #expect(plain.0.isPlain && !plain.hasCount && plain.2 == .client)
        let all = try forward("100 bytes to server in pieces of 1B every 5ms delayed by 50ms joined")
        #expect(all.hasCount && all.2 == .server && all.0.isJoined && all.0.delay == .milliseconds(50))
        if case .inPieces? = all.0.cut, case .every(.milliseconds(5))? = all.0.pace {} else { Issue.record("pieces") }
        if case .at(let offsets)? = try forward("to client cut at 3, 7").0.cut {
            #expect(offsets.count == 2)
        } else {
            Issue.record("cut")
        }
        if case .random? = try forward("to client cut at random seed 7").0.cut {} else { Issue.record("random") }
        if case .rate(10_000)? = try forward("to client at 10kB/s").0.pace {} else { Issue.record("rate") }
    }

    @Test func otherStatementsAreParsed() throws {
        if case .hold(to: .server) = try action("X hold to server") {} else { Issue.record("hold") }
        if case .release(to: nil) = try action("X release") {} else { Issue.record("release") }
        if case .release(to: .client?) = try action("X release to client") {} else { Issue.record("release to") }
        if case .discard(to: .client) = try action("X discard to client") {} else { Issue.record("discard") }
        if case .replace(_, _, to: .client) = try action("X replace \"a\" with \"b\" to client") {
        } else {
            Issue.record("replace")
        }
        if case .insert(_, to: .server) = try action("X insert \"x\" to server") {} else { Issue.record("insert") }
        if case .close(to: .client) = try action("X close to client") {} else { Issue.record("close") }
        if case .halfClose(to: .server) = try action("X half-close to server") {} else { Issue.record("half-close") }
        if case .reset(.client) = try action("X reset client") {} else { Issue.record("reset") }
        if case .vanish(.server) = try action("X vanish server") {} else { Issue.record("vanish") }
        if case .accept(as: let name?) = try action("X accept as A") {
            #expect(name.value == "A")
        } else {
            Issue.record("accept as")
        }
    }

    @Test(arguments: [
        "\"a\"", "line \"a\"", "line /a/", "line as y", "10 bytes", "10 bytes as y", "until \"a\" as y",
        "any bytes as y", "eof",
        "reset", "closed", "nothing for 50ms", "u16 as y", "message \"a\"", "until line /a/", "x",
    ])
    func expectationsAreParsed(_ what: String) throws {
        for side in ConversationSide.allCases {
            guard case .expect(_, from: side) = try action("X expect \(what) from \(side.word)") else {
                Issue.record("\(what) from \(side)")
                continue
            }
        }
    }

    /// `proxy` begins a declaration only if a name and `->` follow it.
    @Test func keywordMayBeAName() {
        let text = """
            scenario "x"
            server S
            proxy proxy -> S
            client from -> proxy
            from connect
            S accept
            from send "a"
            S expect "a"
            let proxied = "a"
            proxy accept
            proxy expect "a" from client
            """
        let result = compile(text + "\n")
        #expect(!result.hasErrors, "\(result.rendered)")
    }
}
