import ProbeBase
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
        /// In the order in which they began; one that is over stays until all of it is shown.
        var connections: [Incoming] = []
        var timer: TimerQueue.ID?
        /// When the first of what is not shown came.
        var since: MonotonicTime?
        var isFlushing = false
        var hasFailed = false

        /// The place of the present connection of a name.
        func place(of name: String) -> Int? { connections.lastIndex { $0.name == name && !$0.isReplaced } }
    }

    /// One connection.
    private struct Incoming {
        let name: String
        let number: Int
        /// The name stands for another one by now.
        var isReplaced = false
        var pending: [ReceiveBuffer.Arrival] = []
        var end: Connection.ReadEnd?
        /// Bytes that have come.
        var total = 0
        var shown = Shown()
        /// Segments that are not shown yet, and where in the stream the first of them begins.
        var segments = CaseRun.ArrivedSegments()

        var isWaiting: Bool { !pending.isEmpty || end != nil }
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

    var shown: Shown {
        state.withLock { state in state.place(of: actor).map { state.connections[$0].shown } ?? Shown() }
    }
    /// Bytes that have come on it.
    var total: Int { state.withLock { state in state.place(of: actor).map { state.connections[$0].total } ?? 0 } }
    /// What came was more than is kept.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func take(_ news: CaseNews) {
        state.withLock { state in
            switch news {
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
        // What is taken here is shown, whatever comes meanwhile.
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
        if !incoming.isReplaced, let found = await caseRun.segments(to: incoming.name, behind: segments) {
            segments = found
            let behind = (start - found.start)..<(start - found.start + bytes.count)
            seen = ArrivalText.pieces(found.list.map { .init(count: $0.count, time: $0.time) }, of: behind)
            segments.drop(before: start + bytes.count)
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
