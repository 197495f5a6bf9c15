import ProbeBase
import Dispatch
import Glibc
import ProbeSystem
import ProbeTransport
import Synchronization

/// A defect in a transport.
enum Flaw: String, Sendable, CaseIterable {
    case startedTwice, lineBeforeStarted, neverStarted, lineAfterStop, stoppedTwice, neverStops, blocksInStart,
        blocksInSend
    case refusesSend, halfLines, keepsTerminator, keepsCR, swallowsLeftover, eofForReset, resetForFIN, sendsJoined,
        sendsTwice
    case sendsLF, sendsNothing, sentTooMuch, sentNever, stopsOnItsOwn, emptyLines, losesLines, swapsLines,
        speaksUnannounced
    case stopsWithoutFIN, refusedAfterStarted
}

/// A gate that blocks threads until it is opened, however long that takes.
struct Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

/// The `bsd` transport with one defect.
///
/// `@unchecked Sendable` is safe, because the mutex protects all mutable state.
final class BrokenTransport: Transport, @unchecked Sendable {
    private struct State {
        var pending: [UInt8] = []
        var kept: TransportEvent?
        var count = 0
    }

    private let flaw: Flaw
    private let handler: TransportHandler
    private let state = Mutex(State())
    private let gate: Gate
    private var inner: (any Transport)?

    init(
        _ flaw: Flaw, _ configuration: TransportConfiguration, gate: Gate, handler: @escaping TransportHandler
    ) throws(TransportError) {
        self.flaw = flaw
        self.gate = gate
        self.handler = handler
        var configuration = configuration
        if flaw == .sendsLF { configuration.framing = .lf }
        inner = try BSDTransportFactory().makeTransport(configuration) { [weak self] event in self?.pass(event) }
    }

    private func pass(_ event: TransportEvent) {
        switch (flaw, event) {
        case (.startedTwice, .started):
            handler(.started)
            handler(.started)
        case (.lineBeforeStarted, .started):
            handler(.line(Array("early".utf8)))
            handler(.started)
        case (.neverStarted, .started): break
        case (.refusedAfterStarted, .started):
            handler(.started)
            handler(.stopped(.refused, detail: nil))
        case (.stopsOnItsOwn, .started):
            handler(.started)
            handler(.stopped(.other, detail: "no reason"))
        case (.lineAfterStop, .stopped):
            handler(event)
            handler(.line(Array("late".utf8)))
        case (.stoppedTwice, .stopped):
            handler(event)
            handler(event)
        case (.neverStops, .stopped): break
        case (.halfLines, .line(let line)):
            handler(.line(Array(line.prefix(line.count / 2))))
            handler(.line(Array(line.dropFirst(line.count / 2))))
        case (.keepsTerminator, .line(let line)): handler(.line(line + [13, 10]))
        case (.keepsCR, .line(let line)): handler(.line(line + [13]))
        case (.emptyLines, .line(let line)):
            handler(.line(line))
            handler(.line([]))
        case (.losesLines, .line): break
        case (.swapsLines, .line):
            let kept = state.withLock { state in
                defer { state.kept = state.kept == nil ? event : nil }
                return state.kept
            }
            if let kept {
                handler(event)
                handler(kept)
            }
        case (.swallowsLeftover, .leftover): break
        case (.eofForReset, .stopped(.reset, let detail)): handler(.stopped(.eof, detail: detail))
        case (.resetForFIN, .stopped(.eof, let detail)): handler(.stopped(.reset, detail: detail))
        case (.sentTooMuch, .sent(let count)): handler(.sent(count + 1))
        case (.sentNever, .sent): break
        default: handler(event)
        }
    }

    func start() throws(TransportError) {
        if flaw == .blocksInStart { gate.wait() }
        try inner?.start()
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        switch flaw {
        case .blocksInSend: gate.wait()
        case .refusesSend: throw .other("no")
        case .sendsNothing: break
        case .sendsTwice:
            try inner?.send(message)
            try inner?.send(message)
        case .sendsJoined:
            // Sends two messages with a single terminator.
            let joined = state.withLock { state -> [UInt8]? in
                state.pending += message
                state.count += 1
                return state.count == 2 ? state.pending : nil
            }
            if let joined { try inner?.send(joined) }
        default: try inner?.send(message)
        }
    }

    func halfClose() throws(TransportError) { try inner?.halfClose() }
    func stopReading() throws(TransportError) { try inner?.stopReading() }
    func resumeReading() throws(TransportError) { try inner?.resumeReading() }
    func reset() throws(TransportError) { try inner?.reset() }
    func setFraming(_ framing: TransportFraming) throws(TransportError) { try inner?.setFraming(framing) }

    func stop() throws(TransportError) {
        if flaw == .stopsWithoutFIN {
            handler(.stopped(.stopped, detail: nil))
            return
        }
        try inner?.stop()
    }
}

/// Creates transports with the given defect.
struct BrokenFactory: TransportFactory {
    var flaw: Flaw
    /// The gate at which blocking calls wait.
    let gate = Gate()
    var name: String { flaw.rawValue }
    var capabilities: Set<TransportCapability> { BSDTransportFactory().capabilities }

    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        try BrokenTransport(flaw, configuration, gate: gate, handler: handler)
    }
}

/// A driver whose subject reports an event on a connection that doesn't exist, which no transport can do.
final class StrangeDriver: SubjectDriver {
    let handler: @Sendable (SubjectReport) -> Void
    let event: SubjectReport

    init(_ event: SubjectReport, handler: @escaping @Sendable (SubjectReport) -> Void) {
        self.event = event
        self.handler = handler
    }

    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        reply(.done(port: nil))
        switch operation {
        case .connect:
            handler(SubjectReport(connection: connection, event: .started, time: event.time))
            handler(event)
        case .stop:
            handler(SubjectReport(connection: connection, event: .stopped(.stopped, detail: nil), time: event.time))
        default: break
        }
    }

    var capabilities: Set<TransportCapability> { Set(TransportCapability.allCases) }
    var framings: Set<TransportFraming>? { nil }
    func silence() -> SubjectFailure? { nil }
    var drainInterval: Duration { .milliseconds(2) }
    var reportsAreExact: Bool { true }
    func close(isReusable: Bool, late: (any LateReportHandler)?) {}
}

struct StrangeSource: SubjectSource {
    var event: SubjectReport
    var name: String { "strange" }
    var option: [String] { [] }

    func introduce(_ done: @escaping @Sendable () -> Void) { done() }

    func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void
    ) {
        ready(.success(StrangeDriver(event, handler: handler)))
    }

    func shutDown() async {}
}
