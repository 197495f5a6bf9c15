import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeExplore
import ProbeProxy
import ProbeSystem
import Synchronization

/// A proxy that records the first N connections. After these connections have ended, other connections may continue for
/// a limited time.
final class RecordingSession {
    /// The server to which the connections are forwarded.
    enum Target {
        case address(SocketAddress)
        /// A server to start. In the words of its command, `{port}` is replaced with the port on which it must listen.
        case command([String])
    }

    private let proxy: ConnectionProxy
    /// The server that this session has started.
    private var server: StartedServer?
    let target: SocketAddress
    private let reactor: Reactor
    private let interrupts: Int32
    private let count: Int
    /// The maximum number of bytes to keep for each connection.
    private let limit: Int
    /// The time for which unrecorded connections may continue after the recorded connections have ended.
    private let patience: Duration
    private var recordings: [Recording] = []
    private var isRecorded = false
    private var isEnding = false
    /// A thread that writes the scenario while other connections continue.
    private var writer: WorkerThread?
    private let written = Written()

    /// The exit code that results from writing the scenario; `nil` until the scenario has been written.
    private final class Written: Sendable {
        let code = Mutex<Int32?>(nil)
    }

    /// The recording of one connection.
    private final class Recording {
        var conversation: RecordedConversation
        var isOver = false

        init(limit: Int) { conversation = RecordedConversation(limit: limit) }
    }

    var address: SocketAddress { proxy.address }

    /// Writes the scenario and returns an exit code. Called once, on a separate thread, when recording has ended
    /// because the recorded connections have ended or reached the limit on recorded bytes, or because Ctrl-C was
    /// pressed.
    var write: @Sendable ([RecordedConversation]) -> Int32 = { _ in 0 }

    init(_ place: SocketAddress, to target: Target, count: Int, limit: Int, patience: Duration) throws {
        (self.count, self.limit, self.patience) = (count, limit, patience)
        // The handler must be installed before the message about listening is printed, because Ctrl-C may be pressed at
        // any time after that.
        interrupts = probe_interrupt_descriptor()
        do throws(SystemError) {
            reactor = try Reactor()
        } catch {
            throw Failure.machine("can't wait for connections: \(error.reason)")
        }
        switch target {
        case .address(let address): self.target = address
        case .command(let words):
            let started = try StartedServer(words, reactor: reactor, interrupts: interrupts)
            server = started
            self.target = started.address
        }
        do throws(SystemError) {
            let target = self.target
            proxy = try ConnectionProxy(
                Listener(address: place, backlog: 128, options: []), reactor: reactor, watches: false, forgets: true
            ) { () throws(SystemError) in target }
        } catch {
            throw Failure.machine(
                "can't listen on \(place): \(error.reason)"
                    + (error.code == EADDRINUSE
                        ? "\n  hint: another program uses the port (`ss -ltnp` shows it); use port 0 for a free port"
                        : ""))
        }
        proxy.onConnection = { [unowned self] in record($0) }
        proxy.onClosed = { [unowned self] _ in endIfOver() }
        proxy.onFailure = { Console.standardError.write("error: can't accept a connection: \($0.reason)\n") }
        server?.watch()
        Console.standardError.write("listening on \(address), forwarding to \(self.target); press Ctrl-C to stop\n")
    }

    private func record(_ connection: ProxiedConnection) {
        // Connections beyond the requested number are forwarded, but not recorded.
        guard recordings.count < count, !isRecorded else { return }
        let recording = Recording(limit: limit)
        recordings.append(recording)
        let start = MonotonicTime.now
        connection.onBytes = { [unowned self] side, bytes, time in
            guard !recording.conversation.isCut else { return }
            recording.conversation.add(.bytes(Array(bytes)), from: side, at: time - start)
            if recording.conversation.hasReachedLimit { noteLimit() }
        }
        connection.onEnd = { side, end, time in
            recording.conversation.add(end == .reset ? .reset : .fin, from: side, at: time - start)
        }
        connection.onChange = { [unowned self, weak connection] in
            guard connection?.isOver ?? true, !recording.isOver else { return }
            recording.isOver = true
            if let failure = connection?.failure {
                Console.standardError.write("error: the server could not be reached: \(failure.reason)\n")
            }
            finishIfComplete()
        }
    }

    private func noteLimit() {
        Console.standardError.write(
            "note: the limit of \(ByteText.count(limit, "byte")) was reached: further data on the connection is forwarded but not recorded; raise the limit with --limit\n"
        )
        // The recording must not finish between the arrival of a piece and its forwarding, so finishing is deferred.
        reactor.schedule(at: .now) { [weak self] in self?.finishIfComplete() }
    }

    private func finishIfComplete() {
        guard recordings.count == count, recordings.allSatisfy({ $0.isOver || $0.conversation.isCut }) else { return }
        finish()
    }

    private func finish() {
        if isRecorded { return }
        isRecorded = true
        let conversations = recordings.map(\.conversation)
        let nonEmpty = conversations.filter { !$0.isEmpty }
        let recorded = nonEmpty.isEmpty ? conversations : nonEmpty
        for recording in recordings { recording.conversation.cut() }
        do throws(SystemError) {
            // Scripts are parsed on this thread, so the thread must have the stack size of a main thread.
            writer = try WorkerThread("write", signals: .blocked, stack: 8 << 20) { [write, written] in
                let code = write(recorded)
                written.code.withLock { $0 = code }
            }
        } catch {
            let code = write(recorded)
            written.code.withLock { $0 = code }
        }
        awaitWriting()
    }

    private func awaitWriting() {
        reactor.schedule(at: .now + .milliseconds(5)) { [weak self] in
            guard let self else { return }
            if written.code.withLock({ $0 }) == nil { awaitWriting() } else { endIfOver() }
        }
    }

    // MARK: Connections that continue

    /// Ends the session once the scenario has been written and all connections have ended. A recorded connection may
    /// continue for an unlimited time, even if it has reached the limit on recorded bytes.
    private func endIfOver() {
        guard written.code.withLock({ $0 }) != nil, recordings.allSatisfy(\.isOver) else { return }
        proxy.stopListening()
        let others = proxy.openCount
        if others == 0 {
            reactor.stop()
        } else if !isEnding {
            isEnding = true
            Console.standardError.write(
                "note: \(others == 1 ? "another connection continues" : "\(others) other connections continue") through the proxy for at most \(DurationText.script(patience)); press Ctrl-C to end \(others == 1 ? "it" : "them")\n"
            )
            reactor.schedule(at: .now + patience) { [weak self] in
                guard let self else { return }
                Console.standardError.write(
                    "note: resetting \(ByteText.count(proxy.openCount, "connection")) that did not end in time; allow more time with --patience\n"
                )
                reactor.stop()
            }
        }
    }

    /// Runs the session until the recording has been written and the connections have ended, or until a signal arrives.
    ///
    /// - Returns: the exit code that results from writing the scenario, or from the signal that ended the session
    ///   before the recording was complete.
    func run() throws -> Int32 {
        var signal: Int32 = 0
        do throws(SystemError) {
            try reactor.onSignal(from: interrupts) { [reactor] in
                signal = $0
                reactor.stop()
            }
        } catch {
            throw Failure.machine("can't wait for signals: \(error.reason)")
        }
        reactor.run()
        let wasRecorded = isRecorded
        for recording in recordings where !recording.isOver { recording.conversation.cut() }
        proxy.end()
        server = nil
        finish()
        if let writer = writer.take() { writer.join() }
        return wasRecorded || signal == 0 ? written.code.withLock { $0 } ?? 3 : 128 + signal
    }
}
