import ProbeBase
import ProbeSystem
import Synchronization

/// The driver of a subject that is served by an adapter, for one case.
final class AdapterDriver: SubjectDriver {
    let capabilities: Set<TransportCapability>
    let framings: Set<TransportFraming>?
    private let process: AdapterProcess
    /// The source to which the process returns after the case; `nil` if the process serves only one case.
    private let source: AdapterSource?
    private let isClosed = Mutex(false)
    package let servedBefore: String?

    init(_ process: AdapterProcess, hello: AdapterHello, source: AdapterSource?) {
        self.process = process
        self.source = source
        servedBefore = process.lastCase
        capabilities = hello.capabilities
        framings = hello.framings
    }

    var processes: ProcessTree? { process.processes }

    func serve(_ id: String) { process.serve(id) }

    func whenEnded(_ call: @escaping @Sendable () -> Void) { process.whenEnded(call) }

    deinit {
        close(isReusable: false, late: nil)
    }

    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        process.perform(operation, on: connection, reply: reply)
    }

    /// The time to wait for events that the program has not written to its pipe yet. No op can confirm that all events
    /// have arrived, because adapters respond to an op on a stopped connection in different ways.
    var drainInterval: Duration { .milliseconds(5) }

    var reportsAreExact: Bool { false }

    func silence() -> SubjectFailure? { process.silence() }

    func close(isReusable: Bool, late: (any LateReportHandler)?) {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if wasClosed { return }
        if process.endCase(late: late) && isReusable, let source {
            source.takeBack(process)
        } else {
            process.end(isReusable ? .quit : .kill)
        }
    }
}
