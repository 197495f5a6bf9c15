import ProbeSockets
import Synchronization

/// A case's subject behind an adapter.
final class AdapterDriver: SubjectDriver {
    let capabilities: Set<TransportCapability>
    private let process: AdapterProcess
    private let source: AdapterSource
    private let isClosed = Mutex(false)

    init(_ process: AdapterProcess, hello: AdapterHello, source: AdapterSource) {
        self.process = process
        self.source = source
        capabilities = hello.capabilities
    }

    deinit {
        close(isReusable: false)
    }

    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        process.perform(operation, on: connection, reply: reply)
    }

    /// By an op on a connection that is never started: it is answered `not-started` in its turn, and has no other effect.
    func settle(_ done: @escaping @Sendable () -> Void) {
        process.perform(.stop, on: nil) { _ in done() }
    }

    func silence() -> SubjectFailure? { process.silence() }

    func close(isReusable: Bool) {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if wasClosed { return }
        if process.endCase() && isReusable {
            source.takeBack(process)
        } else {
            process.end(isReusable ? .quit : .kill)
        }
    }
}
