import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Failures after a stall of the harness. The stalls are arguments; no test actually stalls.
struct StandstillFaultsTests {
    typealias Kind = StandstillFaults.Place.Kind

    private static let failure = Finding(.failed, "T stopped with timeout")
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private static func limits(_ text: String) throws -> [StandstillLimit] {
        StandstillLimit.all(of: try scenario(text))
    }

    private static func scenario(_ text: String) throws -> Scenario {
        try Stage.plan("scenario \"x\"\n" + text).scenario
    }

    /// Returns the finding for a failure 5 s after the case began, if a part of the harness of the given kind was
    /// stalled for `stall`, beginning at 340 ms.
    private static func judge(_ kind: Kind, stall: Duration, _ limits: [StandstillLimit]) -> Finding {
        var standstills = Standstills()
        let from = start + .milliseconds(340)
        standstills.add(from: from, to: from + stall)
        let places = [
            StandstillFaults.Place(kind: .run, name: "the run", standstills: Standstills()),
            StandstillFaults.Place(kind: kind, name: "it", standstills: standstills),
        ]
        return StandstillFaults.excused(
            failure, StandstillFaults.cause(in: places, from: start, to: start + .seconds(5), limits))
    }

    /// A scenario with a party that has a time limit, the limit itself, and the longest stall that can't cause a
    /// failure.
    struct Party: Sendable {
        var script: String
        var kinds: [Kind]
        var limit: Int
        var harmless: Int
        var text: String

        init(
            _ script: String, _ limit: Int, _ text: String, harmless: Int? = nil,
            of kinds: [Kind] = [.run, .link, .crowd]
        ) {
            (self.script, self.kinds, self.limit, self.text) = (script, kinds, limit, text)
            self.harmless = harmless ?? limit / 2
        }
    }

    private static func subject(_ options: String, _ step: String = "") -> String {
        "server S\nsubject T -> S\(options)\nT start\nS accept\n\(step)"
    }

    private static func crowd(_ script: String, _ step: String = "", at target: String = "server S") -> String {
        "\(target)\ncrowd W = 2 clients -> S\nW start { \(script) }\n\(step)"
    }

    private static func wire(_ statement: String, link: Bool = false) -> String {
        (link ? "require link\nserver S on link\nclient C -> S\nlink S <-> C\n" : "server S\nclient C -> S\n")
            + "C connect\nS accept as A\nC send \"x\"\nA expect \"x\"\nwire \(statement)"
    }

    static let parties = [
        Party(subject(""), 500, "the assumed time limit of T", harmless: 500),
        Party(subject(" with connect-timeout 300ms"), 300, "the connect-timeout of T"),
        Party(subject(" with idle-timeout 300ms"), 300, "the idle-timeout of T"),
        Party(subject(" with idle-timeout 3s"), 500, "the assumed time limit of T", harmless: 500),
        Party(subject(" with heartbeat 100ms \"x\", heartbeat-timeout 400ms"), 400, "the heartbeat-timeout of T"),
        Party(subject("", "T read 10 bytes within 90ms"), 90, "T's time limit for a read"),
        Party(
            subject("", "together { do { T read 10 bytes within 90ms } }"), 90, "T's time limit for a read"),
        Party("process P = true\nP start\nP expect exit 0", 500, "the assumed time limit of P", harmless: 500),
        Party(crowd("connect"), 5000, "a deadline of W's members"),
        Party(crowd("connect within 80ms"), 80, "a deadline of W's members"),
        Party(
            crowd("connect", "W expect connected 2 within 80ms"), 80, "the deadline of an `expect` step of W",
            of: [.crowd]),
        Party(
            crowd("connect", "W expect connected 2 within 80ms"), 5000, "a deadline of W's members", of: [.run]),
        Party("client C -> 192.0.2.1:80\nC connect", 500, "the assumed time limit of the peer", harmless: 500),
        Party(wire("C -> A gap <= 60ms"), 60, "an expected gap"),
        Party(wire("A -> C first byte within 60ms"), 60, "an expected first byte"),
        Party(wire("C -> A bytes \"x\"", link: true), 200, "TCP's retransmission timeout", harmless: 200),
        Party(wire("no retransmission", link: true), 20, "TCP's tail-loss probe", harmless: 20, of: [.link]),
        Party(wire("C -> A retransmissions == 0", link: true), 20, "TCP's tail-loss probe", harmless: 20, of: [.link]),
        Party(
            wire("no retransmission", link: true), 200, "TCP's retransmission timeout", harmless: 200, of: [.run]),
    ]

    @Test(arguments: parties.indices)
    func failureAfterAHarmfulStandstillIsInconclusive(_ index: Int) throws {
        let party = Self.parties[index]
        let limits = try Self.limits(party.script)
        for kind in party.kinds {
            #expect(Self.judge(kind, stall: .milliseconds(party.harmless), limits).verdict == .failed)
            let judged = Self.judge(kind, stall: .milliseconds(party.harmless + 1), limits)
            #expect(judged.verdict == .inconclusive)
            #expect(
                judged.summary.contains(
                    ", but it stood still for \(DurationText.script(.milliseconds(party.harmless + 1))) at 340ms, too long for"
                ))
            #expect(
                judged.summary.contains(party.text)
                    && judged.summary.contains(" (\(DurationText.script(.milliseconds(party.limit))))"))
        }
    }

    @Test(arguments: [
        "server S\nclient C -> S\nC connect\nS accept",
        "server S\nproxy X -> S\nclient C -> X\nC connect\nX accept\nS accept", wire("no retransmission"),
    ])
    func harnessWithoutPeersHasNoLimit(_ script: String) throws {
        let limits = try Self.limits(script)
        #expect(limits.isEmpty)
        #expect(Self.judge(.run, stall: .seconds(4), limits).verdict == .failed)
    }

    /// The arguments are the party that answers the members of a crowd, whether a wait ends with an answer, the parts
    /// of the harness that stall, and whether a stall of these parts explains measured waits that are too long.
    @Test(
        arguments: [
            ("server S", true, [.run, .link, .crowd], true), ("server S", false, [.link, .crowd], true),
            ("server S", false, [.run], false), ("process S = true", true, [.crowd], true),
            ("process S = true", true, [.run, .link], false),
        ] as [(String, Bool, [Kind], Bool)])
    func longStandstillExplainsExcessLatency(
        _ target: String, _ needsAnswer: Bool, _ kinds: [Kind], _ explains: Bool
    ) throws {
        let scenario = try Self.scenario(Self.crowd("connect", at: target))
        let excess = Finding.Excess(
            actor: "W", limit: .milliseconds(50), time: .milliseconds(150), needsAnswer: needsAnswer)
        let limits = [StandstillLimit.latency(excess, in: scenario)]
        for kind in kinds {
            #expect(Self.judge(kind, stall: .milliseconds(150), limits).verdict == .failed)
            #expect((Self.judge(kind, stall: .milliseconds(151), limits).verdict == .inconclusive) == explains)
        }
    }

    @Test func laterStandstillIsNotACause() {
        var standstills = Standstills()
        standstills.add(from: Self.start + .seconds(5), to: Self.start + .seconds(8))
        let places = [StandstillFaults.Place(kind: .run, name: "it", standstills: standstills)]
        func cause(_ end: Duration) -> String? {
            StandstillFaults.cause(
                in: places, from: Self.start, to: Self.start + end, [StandstillLimit(.seconds(1), "it")])
        }
        #expect(cause(.seconds(5)) == nil && cause(.milliseconds(5500)) == nil)
        #expect(cause(.milliseconds(5501)) != nil)
    }

    @Test(arguments: [Verdict.error, .unsupported, .inconclusive, .skipped])
    func onlyFailuresAreExcused(_ verdict: Verdict) {
        let judged = StandstillFaults.excused(Finding(verdict, "it"), "the harness itself stood still")
        #expect(judged.verdict == verdict && judged.summary == "it")
    }
}
