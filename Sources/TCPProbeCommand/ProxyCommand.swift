import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeProxy
import ProbeReport
import ProbeSystem

struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Forward connections, optionally in pieces, slowly or with a delay.",
        discussion: """
            Listens on a port of 127.0.0.1, and opens a connection to the server for each connection that it accepts. Bytes, FIN and RST are
            forwarded as they arrive, unless --to-client or --to-server specifies otherwise, in the syntax of the step `forward`:

              in pieces of 1B    cut at 3, 7    cut at random seed 7    every 5ms    at 10kB/s    delayed by 50ms    joined

            TLS is forwarded unchanged. Ctrl-C ends the proxy and resets the open connections. If a process has no descriptors left,
            another process accepts further connections (numbered from 1000001); with --write, there is only one process.

            EXAMPLES:
              tcpprobe proxy 7000 127.0.0.1:6379
              tcpprobe proxy 7000 127.0.0.1:6379 --to-client "in pieces of 1B every 5ms" --write session.pcapng
              tcpprobe proxy 0 [::1]:8080 --to-server "at 10kB/s" --to-client "delayed by 50ms"
            """)

    @Argument(
        help: ArgumentHelp(
            "Address to listen on: a port on 127.0.0.1, 0 for a free port, or an address with a port.",
            valueName: "listen"))
    var listen: String

    @Argument(help: ArgumentHelp("Server to connect to.", valueName: "host:port"))
    var target: String

    @Option(help: ArgumentHelp("How bytes are forwarded to the client.", valueName: "forwarding"))
    var toClient: String?

    @Option(help: ArgumentHelp("How bytes are forwarded to the server.", valueName: "forwarding"))
    var toServer: String?

    @Option(
        help: ArgumentHelp("Write the packets of both sides to a pcapng file.", valueName: "file"), completion: .file())
    var write: String?

    @Flag(name: .shortAndLong, help: "Don't print a line for each connection.")
    var quiet = false

    /// The number of an additional process of a proxy, starting at 1; `nil` in the proxy's first process.
    @Option(help: .hidden)
    var worker: Int?

    @OptionGroup var targets: TargetOptions

    func run() throws {
        let styles = [
            (ConversationSide.client, try ForwardingText.style(toClient, of: "--to-client")),
            (.server, try ForwardingText.style(toServer, of: "--to-server")),
        ]
        let allowed = try targets.targets()
        let place = try ProxyAddress.listening(listen, allowed)
        let destination = try ProxyAddress.target(target, allowed)
        _ = probe_raise_descriptor_limit()
        let interrupts = probe_interrupt_descriptor()
        let reactor: Reactor
        let listener: Listener
        do throws(SystemError) {
            reactor = try Reactor()
            reactor.spin = .microseconds(50)
            listener =
                try worker == nil
                ? Listener(address: place, backlog: 4096, options: [])
                : Listener(shared: OwnedDescriptor(ProxyWorker.listener))
        } catch {
            throw Failure.machine(
                "can't listen on \(place): \(error.reason)"
                    + (error.code == EADDRINUSE
                        ? "\n  hint: another program uses the port (`ss -ltnp` shows it); use port 0 for a free port"
                        : ""))
        }
        let record = try write.map { path in
            try ProxyRecord(path: path, executable: executablePath(), listener: listener.address, target: destination)
        }
        let session = try ProxySession(
            listener, to: destination, on: reactor,
            styles: styles.compactMap { side, style in style.map { (side, $0) } },
            record: record, isQuiet: quiet, number: worker ?? 0)
        if worker != nil {
            session.runAsWorker()
            throw ExitCode(0)
        }
        Console.standardError.write(
            "listening on \(session.address), forwarding to \(destination); press Ctrl-C to stop\n")
        let signal = session.run(until: interrupts)
        throw ExitCode(session.end() ? (signal > 0 ? 128 + signal : 3) : 3)
    }
}

/// A running proxy.
private final class ProxySession {
    private let proxy: ConnectionProxy
    private let reactor: Reactor
    private let record: ProxyRecord?
    private var totals = ProxyWorker.Totals()
    /// The additional process that this process has started; `nil` if there is none.
    private var worker: ProxyWorker?
    /// The number of this process. The proxy's first process has the number 0.
    private let number: Int

    var address: SocketAddress { proxy.address }

    init(
        _ listener: Listener, to target: SocketAddress, on reactor: Reactor,
        styles: [(ConversationSide, ForwardStyle<Resolved>)], record: ProxyRecord?, isQuiet: Bool,
        number: Int
    ) throws {
        (self.reactor, self.record, self.number) = (reactor, record, number)
        do throws(SystemError) {
            proxy = try ConnectionProxy(listener, reactor: reactor, watches: false, forgets: true) {
                () throws(SystemError) in target
            }
        } catch {
            throw Failure.machine("can't wait for connections: \(error.reason)")
        }
        proxy.willConnect = { local, target in record?.add(local, target) }
        proxy.onConnection = { connection in
            for (side, style) in styles { connection.forward(style, count: nil, to: side) }
        }
        proxy.onClosed = { [unowned self] in note($0, isQuiet) }
        // With `--write`, the proxy uses only one process, because each connection must be registered with the capture.
        if record == nil, let capacity = ProxyWorker.capacity {
            proxy.limit(to: capacity) { [unowned self] in startWorker() }
        }
        proxy.onFailure = { [unowned self] error in
            totals.failures += 1
            // If the machine has run out of descriptors, an error is reported for each waiting connection.
            if totals.failures <= 10 {
                Console.standardError.write("error: can't accept a connection: \(error.reason)\n")
            }
        }
    }

    /// Starts an additional process unless such a process is already running.
    ///
    /// - Returns: whether an additional process accepts further connections.
    private func startWorker() -> Bool {
        if worker != nil { return true }
        do throws(SystemError) {
            guard let listener = try proxy.duplicateListener() else { return false }
            let started = try ProxyWorker(number: number + 1, listener: listener)
            try reactor.register(started.descriptor, for: .read) { [unowned self] _ in noteEnd() }
            worker = started
            return true
        } catch {
            // The failure is reported only once. After the failure, connections are accepted as long as descriptors are
            // available.
            proxy.limit(to: .max) { false }
            Console.standardError.write(
                "error: can't start another process for more connections: \(error); waiting connections are accepted when others have ended\n"
            )
            return false
        }
    }

    /// Handles the unexpected end of the additional process.
    private func noteEnd() {
        guard let ended = worker else { return }
        reactor.unregister(ended.descriptor)
        if let further = ended.end() { totals += further }
        worker = nil
        Console.standardError.write(
            "error: an additional process of the proxy ended, along with its connections; another process accepts "
                + "new connections\n"
        )
        proxy.resumeAccepting()
    }

    private func note(_ connection: ProxiedConnection, _ isQuiet: Bool) {
        totals.toClient += connection.client.bytesSent
        totals.toServer += connection.server.bytesSent
        let number = number * ProxyWorker.numbers + connection.number
        if let failure = connection.failure {
            Console.standardOutput.write(
                "\(number)  \(connection.client.peer?.description ?? "?")  the server could not be reached: \(failure.reason)\n"
            )
        } else if !isQuiet {
            let end = connection.firstEnd.map { side, end in
                "\(end == .reset ? "reset" : "closed") by the \(side == .client ? "client" : "server")"
            }
            Console.standardOutput.write(
                "\(number)  \(connection.client.peer?.description ?? "?")  \(ByteText.count(connection.server.bytesSent, "byte")) to the server, \(connection.client.bytesSent) to the client, \(end ?? "ended by the proxy") after \(DurationText.script(.now - connection.client.createdAt))\n"
            )
        }
    }

    /// Runs the proxy until a signal arrives.
    ///
    /// - Returns: the signal.
    func run(until interrupts: Int32) -> Int32 {
        var signal: Int32 = 0
        do throws(SystemError) {
            try reactor.onSignal(from: interrupts) { [reactor] in
                signal = $0
                reactor.stop()
            }
        } catch {
            Console.standardError.write("error: can't wait for signals: \(error.reason)\n")
            return 0
        }
        tick()
        reactor.run()
        return signal
    }

    private func tick() {
        guard let record else { return }
        reactor.schedule(at: .now + .milliseconds(100)) { [self] in
            record.takePackets()
            tick()
        }
    }

    /// Runs an additional process of a proxy. The process ends when the process that started it ends.
    func runAsWorker() {
        do throws(SystemError) {
            try reactor.register(ProxyWorker.control, for: .read) { [reactor] _ in reactor.stop() }
        } catch {
            Console.standardError.write("error: can't watch the process that started this one: \(error.reason)\n")
            return
        }
        reactor.run()
        endAll().send()
    }

    private func endAll() -> ProxyWorker.Totals {
        proxy.end()
        totals.connections += proxy.count
        if let worker {
            reactor.unregister(worker.descriptor)
            if let further = worker.end() {
                totals += further
            } else {
                Console.standardError.write(
                    "error: an additional process of the proxy did not report the totals of its connections\n")
            }
        }
        worker = nil
        return totals
    }

    /// Ends the proxy and prints the totals.
    ///
    /// - Returns: whether the packet file is complete.
    func end() -> Bool {
        let totals = endAll()
        let isComplete = record?.finish() ?? true
        Console.standardError.write(
            "\(ByteText.count(totals.connections, "connection")), \(ByteText.count(totals.toServer, "byte")) to the server, \(totals.toClient) to the client"
                + (totals.failures > 0 ? ", \(totals.failures) not accepted" : "") + "\n")
        return isComplete
    }
}
