import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What a server is waited for.
enum ResolvedServerExpectation {
    /// `accept`
    case connection
    case noConnection(for: Duration)
}

/// What there is of a server that an expectation may be about.
struct ServerView {
    var name: String
    var isListening: Bool
    /// A connection waits that a step could accept.
    var hasWaiting: Bool
}

/// Compares what waits at a server with what is expected. Pure: it looks, and takes nothing.
struct ServerEvaluation {
    var view: ServerView
    var window: TimeWindow

    func evaluate(_ wanted: ResolvedServerExpectation) -> Outcome<Void> {
        guard view.isListening else {
            let what = "\(view.name) does not listen"
            return .mismatch(Finding(.error, what), what)
        }
        switch wanted {
        case .connection:
            // The moment is known when the connection has been accepted.
            if view.hasWaiting { return .satisfied((), at: nil) }
            return window.wait(
                orMissed: Finding(.failed, "no connection came to \(view.name) within \(window.allowed)"))
        case .noConnection:
            guard view.hasWaiting else { return window.silence(()) }
            let what = "a connection came to \(view.name)"
            switch window.silence(what, at: window.now) {
            case .lasted: return window.silence(())
            case .cannotBeTold(let finding): return .mismatch(finding, "a connection came")
            case .isBroken:
                return .mismatch(
                    Finding(
                        .failed, "\(what) \(DurationText.script(window.now - window.start)) after the step began"),
                    "a connection came")
            }
        }
    }
}
