import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// An expectation, the state in which it is evaluated, and the outcome. The evaluation uses no sockets, and the time is
/// an argument.
///
/// The step begins at 0 and its deadline is at 100 ms, unless a row specifies other times. A send fails after 50 ms
/// without progress.
struct ExpectationRow: Sendable, CustomTestStringConvertible {
    /// The raw value of an ``ExpectationKind``, or the spelling of an expectation about a connection.
    var kind: String
    var now: Int
    /// The outcome: `pending until 100ms`, `satisfied at 5ms …`, `failed: …`, or `missed, failed: …`.
    var outcome: String
    var evaluate: @Sendable (TimeWindow) -> String
    var standsStill = false
    var deadline = 100

    var testDescription: String { "\(kind) at \(now)ms: \(outcome)" }

    func verify() {
        let window = TimeWindow(
            start: .milliseconds(0), deadline: .milliseconds(deadline), now: .milliseconds(now),
            standstills: standsStill ? Self.standstills : Standstills(), scaledTimeout: .milliseconds(50))
        #expect(evaluate(window) == outcome)
    }

    /// The stalls of a thread that was stalled from 60 ms to 90 ms, so a deadline of 100 ms is extended to 130 ms.
    private static let standstills: Standstills = {
        var standstills = Standstills()
        standstills.ran(at: .milliseconds(90), due: .milliseconds(60), last: .milliseconds(60))
        return standstills
    }()

    func standingStill() -> ExpectationRow {
        var row = self
        row.standsStill = true
        return row
    }

    func until(_ deadline: Int) -> ExpectationRow {
        var row = self
        row.deadline = deadline
        return row
    }

    static func text<Value>(_ outcome: Outcome<Value>, _ describe: (Value) -> String) -> String {
        switch outcome {
        case .satisfied(let value, let moment):
            "satisfied" + (moment.map { " at \(text($0))" } ?? "") + describe(value)
        case .pending(let moment): "pending until \(text(moment))"
        case .impossible(let why):
            (why.isMissed ? "missed, " : "") + "\(why.finding.verdict.rawValue): \(why.finding.summary)"
        }
    }

    private static func text(_ time: MonotonicTime) -> String { DurationText.script(nanoseconds: time.nanoseconds) }

    static func text(_ bindings: [(String, Value)]) -> String {
        bindings.map { ", \($0.0)=\($0.1.bytes.map { Escaped.bytes($0) } ?? "?")" }.joined()
    }
}

extension MonotonicTime {
    static func milliseconds(_ count: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(count) * 1_000_000) }
}

/// The expectations of every kind of actor except connections, whose expectations are listed in the language's table.
/// The switches below compile only if they cover every expectation.
enum ExpectationKind: String, CaseIterable {
    case accept, noConnection
    case subjectStarted, subjectSecured, subjectLine, subjectMessage, subjectLeftover, subjectData, subjectBytes,
        subjectSent
    case subjectControl, subjectHalfClosed, subjectDiscarded, subjectFull, subjectDrained, subjectLost,
        subjectAttemptFailed
    case subjectAccept, subjectError, subjectStopped, subjectNothing
    case subjectResource
    case listening, output, noOutput, exit, resource

    init(_ wanted: ResolvedServerExpectation) {
        switch wanted {
        case .connection, .handshake: self = .accept
        case .noConnection: self = .noConnection
        }
    }

    init(_ wanted: ResolvedSubjectExpectation) {
        switch wanted {
        case .started: self = .subjectStarted
        case .secured: self = .subjectSecured
        case .line: self = .subjectLine
        case .message: self = .subjectMessage
        case .leftover: self = .subjectLeftover
        case .data: self = .subjectData
        case .bytes: self = .subjectBytes
        case .sent: self = .subjectSent
        case .control: self = .subjectControl
        case .halfClosed: self = .subjectHalfClosed
        case .discarded: self = .subjectDiscarded
        case .full: self = .subjectFull
        case .drained: self = .subjectDrained
        case .lost: self = .subjectLost
        case .attemptFailed: self = .subjectAttemptFailed
        case .accept: self = .subjectAccept
        case .error: self = .subjectError
        case .stopped: self = .subjectStopped
        case .nothing: self = .subjectNothing
        case .resource: self = .subjectResource
        }
    }

    init(_ wanted: ResolvedProcessExpectation) {
        switch wanted {
        case .listening: self = .listening
        case .output: self = .output
        case .noOutput: self = .noOutput
        case .exit: self = .exit
        case .resource: self = .resource
        }
    }
}

extension Spanned<String> {
    /// Creates a name that has no location in a script.
    static func of(_ text: String) -> Self { Self(text, SourceSpan(start: 0, end: 0)) }
}
