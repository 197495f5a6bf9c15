import ProbeBase
import ProbeEvents
import ProbeScenario

/// A time limit of another party, which may expire while the harness is stalled.
struct StandstillLimit: Equatable {
    var time: Duration
    /// A description of the limit as a noun phrase, such as `the idle-timeout of T`.
    var text: String
    /// The maximum duration of a stall that can't make the limit expire.
    var harmless: Duration
    /// The kinds of processes and threads whose stall can make the limit expire.
    var places: [StandstillFaults.Place.Kind]

    /// Creates a time limit.
    ///
    /// - Parameters:
    ///   - text: a description of the limit.
    ///   - harmless: the maximum duration of a harmless stall; `nil` for half of the limit, because part of the limit
    ///     may have elapsed when the stall begins.
    init(
        _ time: Duration, _ text: String, harmless: Duration? = nil,
        of places: [StandstillFaults.Place.Kind] = [.run, .link, .crowd]
    ) {
        (self.time, self.text, self.places) = (time, text, places)
        self.harmless = harmless ?? time / 2
    }

    /// Returns the assumed limit of a program, an adapter or a server outside the run, whose limits the script doesn't
    /// specify.
    private static func assumed(of name: String) -> Self {
        Self(unknown, "the assumed time limit of \(name)", harmless: unknown)
    }

    private static let unknown = Duration.milliseconds(500)
    /// The minimum retransmission timeout of TCP (TCP_RTO_MIN). The retransmission timer starts when data is sent, and
    /// restarts when new data is acknowledged (RFC 6298, section 5).
    private static let retransmission = Duration.milliseconds(200)
    /// The assumed minimum time after which TCP sends a tail-loss probe. The actual time is two round trips.
    private static let probe = Duration.milliseconds(20)

    // MARK: The limits in force

    static func all(of context: CaseContext) -> [StandstillLimit] {
        all(of: context.scenario) { context.scaled($0) }
    }

    /// Returns the time limits of the other parties of a scenario; the result is empty if the harness is the only
    /// party.
    ///
    /// - Parameter scaled: scales a deadline from the script for this machine.
    static func all(of scenario: Scenario, scaled: (Duration) -> Duration = { $0 }) -> [StandstillLimit] {
        var limits = scenario.actors.flatMap { all(of: $0, scaled) }
        if scenario.addressOutside != nil { limits.append(assumed(of: "the peer")) }
        if !scenario.links.isEmpty {
            limits.append(Self(retransmission, "TCP's retransmission timeout", harmless: retransmission))
        }
        for steps in [scenario.steps] + scenario.definitions.values.map(\.steps) {
            add(in: steps, of: scenario, scaled, to: &limits)
        }
        return limits
    }

    private static func all(of actor: ActorDeclaration, _ scaled: (Duration) -> Duration) -> [Self] {
        let name = actor.name.value
        switch actor.kind {
        case .subject(_, let options):
            let stated: [(String, Duration?)] = [
                ("connect-timeout", options.connectTimeout), ("idle-timeout", options.idleTimeout),
                ("heartbeat-timeout", options.heartbeatTimeout),
            ]
            return [assumed(of: name)]
                + stated.compactMap { word, time in time.map { Self(scaled($0), "the \(word) of \(name)") } }
        case .process: return [assumed(of: name)]
        case .server, .client, .proxy, .crowd: return []
        }
    }

    /// Adds the limits that the given steps specify.
    private static func add(
        in steps: [Step], of scenario: Scenario, _ scaled: (Duration) -> Duration, to limits: inout [Self]
    ) {
        for step in steps {
            switch step.kind {
            case .act(let actor, .crowd(.start(_, let script)), _):
                let shortest = (script.all.compactMap(\.within) + [scenario.timeout]).min() ?? scenario.timeout
                limits.append(Self(scaled(shortest), "a deadline of \(actor.value)'s members"))
            case .act(let actor, .subject(.read), let timing):
                if let time = timing.within {
                    limits.append(Self(scaled(time), "\(actor.value)'s time limit for a read"))
                }
            case .act(let actor, .crowd(.expect), let timing):
                // The harness doesn't extend the deadline of a crowd's `expect` by the duration of a worker's stalls.
                limits.append(
                    Self(
                        scaled(timing.within ?? scenario.timeout), "the deadline of an `expect` step of \(actor.value)",
                        of: [.crowd]))
            case .wire(let statement, _): limits += all(of: statement, hasLinks: !scenario.links.isEmpty)
            default: for block in step.kind.blocks { add(in: block.steps, of: scenario, scaled, to: &limits) }
            }
        }
    }

    /// Returns the limit for a finding about a latency. A stall that is shorter than the time by which the latency
    /// exceeds its limit doesn't explain the finding.
    static func latency(_ excess: Finding.Excess, in scenario: Scenario) -> Self {
        let places: [StandstillFaults.Place.Kind] = excess.needsAnswer ? [.run, .link, .crowd] : [.link, .crowd]
        return Self(
            excess.limit, "the expected latency of \(excess.actor)", harmless: max(excess.time, minExcess),
            of: scenario.serves(crowd: excess.actor) ? places : [.crowd])
    }

    /// The delay that any thread may experience on a busy machine.
    private static let minExcess = Duration.milliseconds(5)

    /// Returns the limits for a statement about packets. If the harness is stalled, packets are late; if a link delays
    /// acknowledgments, the kernel retransmits data.
    private static func all(of statement: WireStatement<Parsed>, hasLinks: Bool) -> [Self] {
        let probe = Self(probe, "TCP's tail-loss probe", harmless: probe, of: [.link])
        switch statement {
        case .halfConnection(_, _, .gap(_, _, let time)): return [Self(time, "an expected gap")]
        case .halfConnection(_, _, .firstByte(let time)): return [Self(time, "an expected first byte")]
        case .halfConnection(_, _, .retransmissions), .halfConnection(_, _, .sacks),
            .halfConnection(_, _, .duplicateAcks),
            .noRetransmission, .packets:
            return hasLinks ? [probe] : []
        case .arrived(let statement): return all(of: statement, hasLinks: hasLinks)
        case .halfConnection, .fin, .rst, .noReset, .closedFirst, .handshakeComplete: return []
        }
    }
}

extension Scenario {
    /// Whether this process contains the actor that answers a crowd's members, or an actor between the members and that
    /// actor.
    fileprivate func serves(crowd name: String) -> Bool {
        guard links.isEmpty else { return true }
        for case .crowd(let crowd) in actors.filter({ $0.name.value == name }).map(\.kind) {
            guard case .clients(.actor(let target)) = crowd.role else { continue }
            return actors.contains { actor in
                guard actor.name.value == target.value else { return false }
                return switch actor.kind {
                case .server, .client, .proxy, .crowd, .subject: true
                case .process: false
                }
            }
        }
        return true
    }
}
