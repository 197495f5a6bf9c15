import ProbeBase
import ProbeDesk
import ProbeEngine
import ProbeReport
import ProbeSystem
import Synchronization

/// What comes on the connections of a session, gathered for a moment and then shown: its lines, and in which segments they came.
///
/// It is told on the reactor's thread, and shows there.
final class DeskArrivals: Sendable {
    /// What was shown of the connection that steps without an actor are about.
    struct Shown {
        var count = 0
        var hasEnded = false
    }

    private struct State {
        var connections: [String: Incoming] = [:]
        var timer: TimerQueue.ID?
        /// When the first of what is not shown came.
        var since: MonotonicTime?
        var isFlushing = false
    }

    private struct Incoming {
        var pending: [ReceiveBuffer.Arrival] = []
        var end: Connection.ReadEnd?
        /// Bytes of the present connection.
        var total = 0
        var shown = Shown()
    }

    /// What comes within this time is shown together.
    private static let quiet = Duration.milliseconds(50)
    /// Nothing waits longer to be shown.
    private static let longest = Duration.milliseconds(250)

    private let state = Mutex(State())
    private let caseRun: CaseRun
    private let paint: Paint
    private let actor: String
    private let show: @Sendable (String) -> Void

    /// - Parameter actor: the connection of steps without an actor; others are named.
    init(_ caseRun: CaseRun, paint: Paint, actor: String, show: @escaping @Sendable (String) -> Void) {
        (self.caseRun, self.paint, self.actor, self.show) = (caseRun, paint, actor, show)
    }

    var shown: Shown { state.withLock { $0.connections[actor]?.shown ?? Shown() } }
    /// Bytes that have come on it.
    var total: Int { state.withLock { $0.connections[actor]?.total ?? 0 } }

    func take(_ news: CaseNews) {
        state.withLock { state in
            switch news {
            case .opened(let actor): state.connections[actor] = Incoming()
            case .arrived(let actor, let arrivals):
                state.connections[actor, default: Incoming()].pending += arrivals
                state.connections[actor, default: Incoming()].total += arrivals.reduce(0) { $0 + $1.bytes.count }
            case .ended(let actor, let end): state.connections[actor, default: Incoming()].end = end
            }
            if let timer = state.timer { caseRun.reactor.cancel(timer) }
            let since = state.since ?? .now
            state.since = since
            state.timer = caseRun.reactor.schedule(at: min(.now + Self.quiet, since + Self.longest)) { [self] in
                Task(executorPreference: self.caseRun.reactor) { await self.flush() }
            }
        }
    }

    /// Shows what has come.
    func flush() async {
        // One at a time, so that all is shown in its order.
        while state.withLock({ state in
            defer { state.isFlushing = true }
            return state.isFlushing
        }) {
            await Task.yield()
        }
        defer { state.withLock { $0.isFlushing = false } }
        let news = state.withLock { state in
            if let timer = state.timer { caseRun.reactor.cancel(timer) }
            (state.timer, state.since) = (nil, nil)
            var news: [(name: String, start: Int, arrivals: [ReceiveBuffer.Arrival], end: Connection.ReadEnd?)] = []
            for (name, incoming) in state.connections where !incoming.pending.isEmpty || incoming.end != nil {
                news.append((name, incoming.shown.count, incoming.pending, incoming.end))
            }
            return news.sorted { $0.name < $1.name }
        }
        for (name, start, arrivals, end) in news {
            let count = arrivals.reduce(0) { $0 + $1.bytes.count }
            var text = ""
            if count > 0 { text = await lines(of: arrivals, from: start, name) }
            if let end { text += "\(mark(name)) \(Self.text(of: end))\n" }
            show(text)
            state.withLock { state in
                state.connections[name]?.pending.removeFirst(arrivals.count)
                state.connections[name]?.shown.count += count
                if end != nil {
                    state.connections[name]?.end = nil
                    state.connections[name]?.shown.hasEnded = true
                }
            }
        }
    }

    private func mark(_ name: String) -> String { name == actor ? "<" : "\(name) <" }

    private func lines(of arrivals: [ReceiveBuffer.Arrival], from start: Int, _ name: String) async -> String {
        let bytes = arrivals.flatMap(\.bytes)
        let lines = ArrivalText.lines(of: bytes, mark: mark(name))
        let seen = await caseRun.segments(to: name).flatMap { segments in
            ArrivalText.pieces(
                segments.map { .init(count: $0.count, time: $0.time) }, of: start..<(start + bytes.count))
        }
        let reads = arrivals.map { ArrivalText.Piece(count: $0.bytes.count, time: $0.time) }
        let how = ArrivalText.pieces(seen ?? reads, areSegments: seen != nil)
        return lines.joined(separator: "\n") + "\n" + paint(.faint, "  \(how)") + "\n"
    }

    private static func text(of end: Connection.ReadEnd) -> String {
        switch end {
        case .eof: "FIN: the peer sends no more"
        case .reset: "RST: the peer has reset the connection"
        case .failed(let error, _): "the connection failed: \(error.reason)"
        }
    }
}
