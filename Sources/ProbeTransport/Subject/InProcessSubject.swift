package import ProbeBase
import Dispatch
package import ProbeSystem
import Synchronization

/// A subject whose ``Transport`` runs in this process. Its operations run on a separate queue, so that an operation
/// that blocks delays nothing else.
package final class InProcessSubject: SubjectDriver {
    private struct State {
        var transports: [Int: any Transport] = [:]
        var listeners: [Int: any TransportListener] = [:]
        /// The number of the connection that each listener is about to report, keyed by the listener's number.
        var announced: [Int: Int] = [:]
        var nextAccepted = 1_000_000
        var isClosed = false
        /// The connections that have reported their stop. Once this subject is closed, `late` receives any further
        /// reports about them.
        var stopped: Set<Int> = []
        var late: (any LateReportHandler)?
        /// The framing that takes effect after `remaining` more messages have been delivered, keyed by connection
        /// number.
        var announcedFramings: [Int: (framing: TransportFraming, remaining: Int)] = [:]
        /// The machine errors (``MachineError``) that the case may have provoked, keyed by connection number. The
        /// subject must report these errors itself.
        var provocable: [Int: Set<MachineError>] = [:]
    }

    private let factory: any TransportFactory
    private let handler: @Sendable (SubjectReport) -> Void
    private let queue = DispatchQueue(label: "tcpprobe.subject")
    private let state = Mutex(State())
    /// A lock that is held from the report of the last message with the old framing until the framing has changed. A
    /// send in response to that message therefore uses the new framing.
    private let switching = Mutex(())

    package init(factory: any TransportFactory, handler: @escaping @Sendable (SubjectReport) -> Void) {
        self.factory = factory
        self.handler = handler
    }

    package func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    ) {
        queue.async { [self] in
            do throws(TransportError) {
                reply(.done(port: try perform(operation, on: connection)))
            } catch {
                if let failure = surroundings(error.code, of: connection) { return reply(.broken(failure)) }
                reply(.refused(code: error.code))
            }
        }
    }

    /// Runs a closure after all operations that were queued before it.
    func afterOthers(_ call: @escaping @Sendable () -> Void) {
        queue.async(execute: call)
    }

    package var capabilities: Set<TransportCapability> { factory.offers }
    package var framings: Set<TransportFraming>? { factory.framings }

    package func silence() -> SubjectFailure? { nil }

    package var drainInterval: Duration { .zero }

    package var reportsAreExact: Bool { true }

    package func close(isReusable: Bool, late: (any LateReportHandler)?) {
        let left = state.withLock { state in
            state.isClosed = true
            state.late = late
            defer { (state.transports, state.listeners) = ([:], [:]) }
            return (Array(state.transports.values), Array(state.listeners.values))
        }
        // Calls of `stop()` run on the queue, like every operation, so that a call that hangs blocks only the queue's
        // thread.
        queue.async {
            for listener in left.1 { listener.stop() }
            for transport in left.0 {
                // A transport that has already stopped may refuse the call. Nothing needs to be done then.
                try? transport.stop()
            }
        }
    }

    private func perform(_ operation: SubjectOperation, on connection: Int) throws(TransportError) -> UInt16? {
        switch operation {
        case .connect(let configuration):
            state.withLock { $0.provocable[connection] = configuration.provocable }
            try transport(connection, configuration).start()
        case .listen(let configuration):
            let port = try listen(connection, configuration)
            return configuration.path == nil ? port : nil
        case .send(let message, let kind):
            let transport = try started(connection)
            // The lock is not held during the call of `send`, which may wait for the thread that calls the handler.
            switching.withLock { _ in }
            if let kind { try transport.send(message, as: kind) } else { try transport.send(message) }
        case .ping(let payload): try started(connection).sendPing(payload)
        case .close(let code, let reason): try started(connection).sendClose(code: code, reason: reason)
        case .plain(let operation):
            try started(connection).perform(operation)
        case .framing(let framing, let count):
            try setFraming(framing, behind: count, of: connection)
        case .read(let request, let timeout):
            try started(connection).read(request, timeout: timeout)
        case .startTLS(let tls): try started(connection).startTLS(tls)
        case .stop:
            if let listener = state.withLock({ $0.listeners[connection] }) {
                listener.stop()
            } else {
                try started(connection).stop()
            }
        }
        return nil
    }

    private func started(_ connection: Int) throws(TransportError) -> any Transport {
        guard let transport = state.withLock({ $0.transports[connection] }) else { throw .notStarted }
        return transport
    }

    private func transport(
        _ connection: Int, _ configuration: TransportConfiguration
    ) throws(TransportError) -> any Transport {
        if let transport = state.withLock({ $0.transports[connection] }) { return transport }
        if configuration.tls != nil, !factory.capabilities.contains(.tls) { throw .unsupported }
        let transport = try factory.makeTransport(configuration) { [weak self] event in
            self?.report(event, from: connection)
        }
        state.withLock { $0.transports[connection] = transport }
        return transport
    }

    private func listen(_ connection: Int, _ configuration: TransportConfiguration) throws(TransportError) -> UInt16 {
        let isUsed = state.withLock { $0.listeners[connection] != nil || $0.transports[connection] != nil }
        if isUsed { throw .alreadyStarted }
        if configuration.tls != nil { throw .unsupported }
        let listener = try factory.makeListener(
            configuration, handler: { [weak self] event in self?.report(event, from: connection) },
            accepted: { [weak self] _ in
                guard let number = self?.announce(from: connection) else { return { _ in } }
                return { [weak self] event in self?.report(event, from: number) }
            })
        state.withLock { state in
            if !state.isClosed { state.listeners[connection] = listener }
        }
        return listener.port
    }

    private func report(_ event: TransportEvent, from connection: Int) {
        let (isClosed, late) = state.withLock { state in
            let isAfterStop = state.stopped.contains(connection)
            if case .stopped = event { state.stopped.insert(connection) }
            // After a reconnect, the connection starts with the original framing.
            if case .lost = event { state.announcedFramings[connection] = nil }
            return (state.isClosed, isAfterStop ? state.late : nil)
        }
        if isClosed && late == nil { return }
        let translated: SubjectReport.Event =
            switch event {
            case .started: .started
            case .secured(let version, let name): .secured(version, protocol: name)
            case .line(let bytes): .line(bytes)
            case .message(let bytes): .message(bytes, kind: nil)
            case .webSocketMessage(let kind, let bytes): .message(bytes, kind: kind)
            case .ping(let bytes): .ping(bytes)
            case .pong(let bytes): .pong(bytes)
            case .data(let bytes): .data(bytes)
            case .leftover(let bytes): .leftover(bytes)
            case .sent(let count): .sent(count)
            case .halfClosed: .halfClosed
            case .discarded: .discarded
            case .full: .full
            case .drained: .drained
            case .lost(let reason, let dropped, let detail):
                machineFailure(reason, detail, of: connection) ?? .lost(reason, dropped: dropped, detail: detail)
            case .attemptFailed(let reason, let detail):
                machineFailure(reason, detail, of: connection) ?? .attemptFailed(reason, detail: detail)
            case .stopped(let reason, let detail):
                machineFailure(reason, detail, of: connection) ?? .stopped(reason, detail: detail)
            case .accepted(let transport): .accepted(connection: adopt(transport, from: connection))
            }
        let report = SubjectReport(connection: connection, event: translated, time: .now)
        if let late { return late.handleLateReport(report) }
        guard let change = dueChange(behind: event, of: connection) else { return handler(report) }
        switching.withLock { _ in
            handler(report)
            apply(change, to: connection)
        }
    }

    // MARK: Changing the framing mid-stream

    private func setFraming(_ framing: TransportFraming, behind count: Int?, of connection: Int) throws(TransportError)
    {
        let transport = try started(connection)
        guard let count else {
            state.withLock { $0.announcedFramings[connection] = nil }
            return try transport.setFraming(framing)
        }
        if factory.framings?.offers(framing) == false || !factory.capabilities.contains(.framing) { throw .unsupported }
        state.withLock { $0.announcedFramings[connection] = (framing, count) }
    }

    /// Returns the change of framing that is due after the given message; `nil` if no change is due.
    private func dueChange(
        behind event: TransportEvent, of connection: Int
    ) -> (transport: any Transport, framing: TransportFraming)? {
        switch event {
        case .line, .message, .webSocketMessage, .data: break
        default: return nil
        }
        return state.withLock { state in
            guard let (framing, remaining) = state.announcedFramings[connection] else { return nil }
            guard remaining <= 1 else {
                state.announcedFramings[connection]?.remaining -= 1
                return nil
            }
            state.announcedFramings[connection] = nil
            return state.transports[connection].map { ($0, framing) }
        }
    }

    /// Changes the framing inside the transport's handler, as users of a transport do: while the handler runs, the
    /// transport has not yet divided the bytes that arrived after the message.
    private func apply(_ change: (transport: any Transport, framing: TransportFraming), to connection: Int) {
        do throws(TransportError) {
            try change.transport.setFraming(change.framing)
        } catch .stopped {
            // The transport stopped after it had delivered the message, so the framing no longer matters.
        } catch {
            let failure = SubjectFailure(
                "the subject did not change its framing to \(change.framing.rawValue) after a message: \(error.code)")
            handler(SubjectReport(connection: connection, event: .broken(failure), time: .now))
        }
    }

    /// Returns the report for a connection that ended because of a machine error; `nil` for any other reason.
    private func machineFailure(_ reason: StopReason, _ detail: String?, of connection: Int) -> SubjectReport.Event? {
        (reason == .other ? detail : nil).flatMap { surroundings($0, of: connection) }.map { .broken($0) }
    }

    /// Returns the failure if a transport's error text names a machine error. A machine error is not evidence against
    /// the transport, because other code uses the same machine and this process's descriptors.
    private func surroundings(_ text: String, of connection: Int) -> SubjectFailure? {
        guard let fault = MachineError(text: text),
            state.withLock({ $0.provocable[connection]?.contains(fault) }) != true
        else { return nil }
        return SubjectFailure("the subject", met: fault, detail: text, pids: nil)
    }

    /// Returns the number of a listener's next connection. The connection's handler and the `accepted` event use the
    /// same number.
    private func announce(from listener: Int) -> Int {
        state.withLock { state in
            defer { state.nextAccepted += 1 }
            state.announced[listener] = state.nextAccepted
            return state.nextAccepted
        }
    }

    private func adopt(_ transport: any Transport, from listener: Int) -> Int {
        let number = state.withLock { $0.announced.removeValue(forKey: listener) } ?? announce(from: listener)
        state.withLock { $0.transports[number] = transport }
        return number
    }
}

/// Creates subjects from a ``TransportFactory`` in this process.
package struct InProcessSource: SubjectSource {
    private let factory: any TransportFactory
    package let name: String
    /// The program that serves the transport in networks other than the run's network.
    private let elsewhere: AdapterSource?

    /// Creates a source.
    ///
    /// - Parameter program: the words of a command that serves the same transport over the adapter protocol; empty if
    ///   there is no such command.
    package init(_ factory: any TransportFactory, program: [String] = [], names: SubjectNames) {
        self.factory = factory
        name = names.reserve(factory.name)
        // The error is ignored. If the program is missing, a case that needs the program reports the error.
        elsewhere =
            try? program.isEmpty
            ? nil : AdapterSource(transport: factory.name, words: program, names: SubjectNames())
    }

    package func introduce(_ done: @escaping @Sendable () -> Void) { done() }

    package var option: [String] { ["--transport", factory.name] }

    package func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void
    ) {
        guard let place else { return ready(.success(InProcessSubject(factory: factory, handler: handler))) }
        guard let elsewhere else {
            return ready(
                .failure(
                    SubjectFailure(
                        "\(name) runs in the harness's process, so it can't be on a link",
                        details: ["serve it with an adapter, which is a separate program"], isUnsupported: true)))
        }
        elsewhere.makeDriver(isFresh: isFresh, in: place, handler: handler, ready: ready)
    }

    package func shutDown() async { await elsewhere?.shutDown() }
}
