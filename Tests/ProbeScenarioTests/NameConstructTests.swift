import ProbeBase
import Testing

@testable import ProbeScenario

/// Tests the syntax trees of statements about host names.
struct NameConstructTests {
    /// Returns a script with the line in its header.
    private func script(_ line: String, steps: String = "") -> String {
        """
        scenario "x"
        server S on link:8080
        server R on [link6]:8080
        subject T -> "dual.test":8080
        link S, R <-> T
        name "dual.test" = S, R
        \(line)
        T start
        S accept
        \(steps)
        T expect started
        """
    }

    private func statement(_ line: String) throws -> NameStatement {
        let result = compile(script(line))
        try #require(result.diagnostics.isEmpty, "\(result.rendered)")
        return try #require(result.plan?.scenario.names.last)
    }

    @Test func addressesAreParsed() throws {
        let statement = try statement(#"name "Other.test" = R, 10.77.0.9, S, [fd77::9]"#)
        guard case .addresses(let addresses, let times) = statement.answer else {
            Issue.record("\(statement)")
            return
        }
        let texts = addresses.map { address in
            switch address {
            case .actor(let name): name.value
            case .nobody(let address, _): "\(address)"
            }
        }
        #expect(texts == ["R", "10.77.0.9", "S", "fd77::9"])
        #expect(times.ipv4Delay == nil && times.ipv6Delay == nil && times.timeToLive == nil)
        #expect(NameStatement.key(of: statement.name.value) == "other.test")
    }

    @Test func timesAreParsed() throws {
        let statement = try statement(#"name "slow.test" = S with a after 0ms, aaaa after 300ms, ttl 2s"#)
        guard case .addresses(_, let times) = statement.answer else {
            Issue.record("\(statement)")
            return
        }
        #expect(times.ipv4Delay == .zero && times.ipv6Delay == .milliseconds(300) && times.timeToLive == .seconds(2))
    }

    @Test func otherAnswersAreParsed() throws {
        if case .nxdomain = try statement(#"name "gone.test" nxdomain"#).answer {} else { Issue.record("nxdomain") }
        if case .fails = try statement(#"name "gone.test" fails"#).answer {} else { Issue.record("fails") }
        if case .timesOut = try statement(#"name "gone.test" times out"#).answer {} else { Issue.record("times out") }
    }

    /// A subject is given either a host name or an address. A `name` step takes effect for the steps that follow it.
    @Test func subjectReceivesTheName() throws {
        let result = compile(script("", steps: #"name "dual.test" = [fd77::9]"#))
        let scenario = try #require(result.plan?.scenario, "\(result.rendered)")
        guard case .subject(.address(let address)?, _)? = scenario.actors.last?.kind else {
            Issue.record("no subject")
            return
        }
        #expect(address.hostName?.value == "dual.test")
        #expect(scenario.usesNames && scenario.actorsOfNetworks == ["S", "R", "T"])
        #expect(scenario.names.count == 1 && scenario.addressOutside == nil)
    }

    /// The port of a target may be an expression that refers to a server's port.
    @Test func targetPortMayBeAServersPort() {
        let text = script("").replacing("-> \"dual.test\":8080", with: #"-> "dual.test":int("${S.port}")"#)
        let result = compile(text)
        #expect(result.diagnostics.isEmpty, "\(result.rendered)")
    }

    /// `name` begins a statement only if a string follows.
    @Test func keywordMayBeAName() {
        let result = compile(
            """
            scenario "x"
            server name
            client C -> name
            C connect
            name accept
            name send "a"
            C expect any bytes as x
            check x == "a"
            """)
        #expect(result.diagnostics.isEmpty, "\(result.rendered)")
        let variable = compile(
            "scenario \"x\"\nlet name = 5\nserver S\nclient C -> S\nC connect\nS accept\ncheck name == 5\n")
        #expect(variable.diagnostics.isEmpty, "\(variable.rendered)")
    }

    /// A `name` statement is aligned with the declarations in the header, but not among the steps.
    @Test func namesAreFormatted() throws {
        let text = """
            scenario "x"
            server S on link:8080
            subject T->"dual.test":8080
            link S<->T
            name "dual.test"=S,10.77.0.9 with ttl 1s

            T start
            name "dual.test"   fails
            link S -> T   drop data 1
            """
        guard case .formatted(let bytes) = ScenarioFormatter.format(path: "x.scn", bytes: Array(text.utf8)) else {
            Issue.record("not formatted")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(
            lines.suffix(7) == [
                #"server  S on link:8080"#, #"subject T -> "dual.test":8080"#, #"link    S <-> T"#,
                #"name    "dual.test" = S, 10.77.0.9 with ttl 1s"#, "T start", #"name "dual.test" fails"#,
                "link S -> T drop data 1",
            ], "\(lines)")
    }

    @Test(arguments: [
        ("dual.test", true), ("a", true), ("x1-y.test", true), ("1.a", true), (String(repeating: "a", count: 63), true),
        (String(repeating: "a", count: 64), false), ("a.1", false), ("", false), (".", false), ("a.", false),
        (".a", false), ("a..b", false), ("-a", false), ("a-", false), ("a_b", false), ("ä.test", false),
        ("localhost", false), ("a.LOCALHOST", false), (String(repeating: "a.", count: 126) + "b", true),
        (String(repeating: "a.", count: 127), false), (String(repeating: "a.", count: 127) + "b", false),
    ])
    func namesAreDistinguishedFromOtherText(_ name: String, _ isName: Bool) {
        #expect((HostSyntax.fault(inName: name) == nil) == isName)
    }

    @Test(arguments: [
        ("10.77.0.9", "nobody"), ("10.77.3.3", "nobody"), ("10.77.255.254", "nobody"), ("fd77::9", "nobody"),
        ("fd77:5::3", "nobody"), ("fd77::1:0:0:1", "nobody"), ("10.77.0.1", "actor"), ("10.77.9.2", "actor"),
        ("fd77:9::2", "actor"), ("10.77.1.0", "elsewhere"), ("10.77.1.255", "elsewhere"), ("10.78.0.9", "elsewhere"),
        ("127.0.0.1", "elsewhere"), ("fd78::9", "elsewhere"), ("::1", "elsewhere"),
    ])
    func addressOwnersAreIdentified(_ text: String, _ place: String) throws {
        #expect("\(LinkNetwork.place(of: try #require(IPAddress(text))))" == place)
    }
}
