import ProbeBase
import ProbeEngine
import ProbeReport
import ProbeSystem
import Synchronization

/// Briefly collects the bytes that arrive on a session's connections, then shows the lines and the segments in which
/// they arrived.
///
/// The collector is notified on the reactor's thread, and shows text only on that thread.
final class DeskArrivals: Sendable {
    /// The extent to which a connection's events have been shown.
    struct Shown {
        var count = 0
        var hasEnded = false
    }

    private struct State {
        /// The connections in the order in which they began. A connection that was replaced is kept until all of its
        /// events have been shown.
        var connections: [Incoming] = []
        var timer: TimerQueue.ID?
        /// The arrival time of the first event that has not been shown.
        var since: MonotonicTime?
        var isFlushing = false
        var hasFailed = false

        /// Returns the index of the current connection with the given name.
        func place(of name: String) -> Int? { connections.lastIndex { $0.name == name && !$0.isReplaced } }
    }

    /// A connection and the bytes received on it.
    private struct Incoming {
        let name: String
        let number: Int
        /// Whether the connection's name now refers to a newer connection.
        var isReplaced = false
        var pending: [ReceiveBuffer.Arrival] = []
        var end: Connection.ReadEnd?
        /// The number of bytes received on the connection.
        var total = 0
        var shown = Shown()
        /// The segments that have not been shown yet, and the stream offset at which the first of these begins.
        var segments = CaseRun.ArrivedSegments()

        var isWaiting: Bool { !pending.isEmpty || end != nil }
    }

    /// The maximum time between two successive events that are shown together.
    private static let quiet = Duration.milliseconds(50)
    /// The maximum time for which an event waits to be shown.
    private static let longest = Duration.milliseconds(250)

    private let state = Mutex(State())
    private let caseRun: CaseRun
    private let paint: Paint
    private let actor: String
    private let show: @Sendable (String) -> Void

    /// Creates a collector.
    ///
    /// - Parameter actor: the name of the session's own connection; lines from other connections are shown with the
    ///   connection's name.
    init(_ caseRun: CaseRun, paint: Paint, actor: String, show: @escaping @Sendable (String) -> Void) {
        (self.caseRun, self.paint, self.actor, self.show) = (caseRun, paint, actor, show)
    }

    var shown: Shown {
        state.withLock { state in state.place(of: actor).map { state.connections[$0].shown } ?? Shown() }
    }
    /// The number of bytes received on the connection of `actor`.
    var total: Int { state.withLock { state in state.place(of: actor).map { state.connections[$0].total } ?? 0 } }
    /// Whether more bytes were received than are kept.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func take(_ notification: CaseNotification) {
        state.withLock { state in
            switch notification {
            case .opened(let name):
                if let place = state.place(of: name) { state.connections[place].isReplaced = true }
                let number = (state.connections.last?.number ?? 0) + 1
                state.connections.append(Incoming(name: name, number: number))
            case .arrived(let name, let arrivals):
                guard let place = state.place(of: name) else { return }
                state.connections[place].pending += arrivals
                state.connections[place].total += arrivals.reduce(0) { $0 + $1.bytes.count }
            case .ended(let name, let end):
                if let place = state.place(of: name) { state.connections[place].end = end }
            case .failed(let text):
                if !state.hasFailed { show("error: \(Escaped.text(text))\n") }
                state.hasFailed = true
            }
            if let timer = state.timer { caseRun.reactor.cancel(timer) }
            let since = state.since ?? .now
            state.since = since
            state.timer = caseRun.reactor.schedule(at: min(.now + Self.quiet, since + Self.longest)) { [self] in
                Task(executorPreference: self.caseRun.reactor) { await self.flush() }
            }
        }
    }

    /// Shows the events that have arrived.
    func flush() async {
        // Only one flush runs at a time, so that events are shown in order.
        while state.withLock({ state in
            defer { state.isFlushing = true }
            return state.isFlushing
        }) {
            await Task.yield()
        }
        defer { state.withLock { $0.isFlushing = false } }
        // All events taken in this round are shown; events that arrive in the meantime are left for the next round.
        let waiting = state.withLock { state in
            if let timer = state.timer { caseRun.reactor.cancel(timer) }
            (state.timer, state.since) = (nil, nil)
            let waiting = state.connections.filter(\.isWaiting)
            for place in state.connections.indices {
                (state.connections[place].pending, state.connections[place].end) = ([], nil)
            }
            state.connections.removeAll { $0.isReplaced }
            return waiting
        }
        for incoming in waiting {
            let count = incoming.pending.reduce(0) { $0 + $1.bytes.count }
            var segments = incoming.segments
            var text = ""
            if count > 0 { text = await lines(of: incoming, &segments) }
            if let end = incoming.end { text += "\(mark(incoming.name)) \(Self.text(of: end))\n" }
            show(text)
            state.withLock { state in
                guard let place = state.connections.firstIndex(where: { $0.number == incoming.number }) else { return }
                state.connections[place].shown.count += count
                state.connections[place].segments = segments
                if incoming.end != nil { state.connections[place].shown.hasEnded = true }
            }
        }
    }

    private func mark(_ name: String) -> String { name == actor ? "<" : "\(name) <" }

    private func lines(of incoming: Incoming, _ segments: inout CaseRun.ArrivedSegments) async -> String {
        let (arrivals, start) = (incoming.pending, incoming.shown.count)
        let bytes = arrivals.flatMap(\.bytes)
        let lines = ArrivalText.lines(of: bytes, mark: mark(incoming.name))
        var seen: [ArrivalText.Piece]?
        if !incoming.isReplaced, let found = await caseRun.segments(to: incoming.name, after: segments) {
            segments = found
            let after = (start - found.start)..<(start - found.start + bytes.count)
            seen = ArrivalText.pieces(found.list.map { .init(count: $0.count, time: $0.time) }, of: after)
            segments.drop(before: start + bytes.count)
        }
        let reads = arrivals.map { ArrivalText.Piece(count: $0.bytes.count, time: $0.time) }
        let how = ArrivalText.pieces(seen ?? reads, areSegments: seen != nil)
        return lines.joined(separator: "\n") + "\n" + paint(.faint, "  \(how)") + "\n"
    }

    private static func text(of end: Connection.ReadEnd) -> String {
        switch end {
        case .eof: "FIN: the peer has finished sending"
        case .reset: "RST: the peer reset the connection"
        case .failed(let error, _): "the connection failed: \(error.reason)"
        }
    }
}
