import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeNetwork
import ProbeReport
import ProbeSystem

struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Pass connections on, in pieces, slowly or late.",
        discussion: """
            Listens on a port of 127.0.0.1 and makes a connection onwards for each one that comes. Bytes, FIN and RST go on as they come,
            unless --to-client or --to-server says otherwise, in the words of the step `forward`:

              in pieces of 1B    cut at 3, 7    cut at random seed 7    every 5ms    at 10kB/s    delayed by 50ms    joined

            TLS goes through as it is. Ctrl-C ends it, with every connection that is still open (RST).

            EXAMPLES:
              tcpprobe proxy 7000 127.0.0.1:6379
              tcpprobe proxy 7000 127.0.0.1:6379 --to-client "in pieces of 1B every 5ms" --write session.pcapng
              tcpprobe proxy 0 [::1]:8080 --to-server "at 10kB/s" --to-client "delayed by 50ms"
            """)

    @Argument(
        help: ArgumentHelp(
            "Where it listens: a port of 127.0.0.1, 0 for a free one, or an address with a port.", valueName: "listen"))
    var listen: String

    @Argument(help: ArgumentHelp("Where it connects to.", valueName: "host:port"))
    var target: String

    @Option(help: ArgumentHelp("How bytes go on to the client.", valueName: "forwarding"))
    var toClient: String?

    @Option(help: ArgumentHelp("How bytes go on to the server.", valueName: "forwarding"))
    var toServer: String?

    @Option(
        help: ArgumentHelp("Write the packets of both sides to a pcapng file.", valueName: "file"), completion: .file())
    var write: String?

    @Flag(name: .shortAndLong, help: "No line for each connection.")
    var quiet = false

    @OptionGroup var targets: TargetOptions

    func run() throws {
        let styles = [
            (ProxiedConnection.Side.client, try ForwardingText.style(toClient, of: "--to-client")),
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
            listener = try Listener(address: place, backlog: 4096, options: [])
        } catch {
            throw Failure.machine(
                "can't listen on \(place): \(error.reason)"
                    + (error.code == EADDRINUSE
                        ? "\n  hint: another program has the port (`ss -ltnp` names it); port 0 takes a free one" : ""))
        }
        let record = try write.map { path in
            try ProxyRecord(path: path, executable: executablePath(), listener: listener.address, target: destination)
        }
        let session = try ProxySession(
            listener, to: destination, on: reactor,
            styles: styles.compactMap { side, style in style.map { (side, $0) } },
            record: record, isQuiet: quiet)
        Console.standardError.write("listening on \(session.address), forwarding to \(destination); Ctrl-C ends it\n")
        let signal = session.run(until: interrupts)
        throw ExitCode(session.end() ? (signal > 0 ? 128 + signal : 3) : 3)
    }
}

/// The proxy while it runs.
private final class ProxySession {
    private let proxy: ConnectionProxy
    private let reactor: Reactor
    private let record: ProxyRecord?
    private var received: (toClient: Int, toServer: Int) = (0, 0)
    private var failures = 0

    var address: SocketAddress { proxy.address }

    init(
        _ listener: Listener, to target: SocketAddress, on reactor: Reactor,
        styles: [(ProxiedConnection.Side, ForwardStyle)], record: ProxyRecord?, isQuiet: Bool
    ) throws {
        (self.reactor, self.record) = (reactor, record)
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
        proxy.onOver = { [unowned self] in note($0, isQuiet) }
        proxy.onFailure = { [unowned self] error in
            failures += 1
            // A machine out of descriptors says so for each connection that waits.
            if failures <= 10 { Console.standardError.write("error: a connection was not taken: \(error.reason)\n") }
        }
    }

    private func note(_ connection: ProxiedConnection, _ isQuiet: Bool) {
        received.toClient += connection.client.bytesSent
        received.toServer += connection.server.bytesSent
        if let failure = connection.failure {
            Console.standardOutput.write(
                "\(connection.number)  \(connection.client.peer?.description ?? "?")  the server could not be reached: \(failure.reason)\n"
            )
        } else if !isQuiet {
            let end = connection.firstEnd.map { side, end in
                "\(end == .reset ? "reset" : "closed") by the \(side == .client ? "client" : "server")"
            }
            Console.standardOutput.write(
                "\(connection.number)  \(connection.client.peer?.description ?? "?")  \(connection.server.bytesSent) bytes to the server, \(connection.client.bytesSent) to the client, \(end ?? "ended here") after \(DurationText.script(.now - connection.client.createdAt))\n"
            )
        }
    }

    /// - Returns: the signal that ended it.
    func run(until interrupts: Int32) -> Int32 {
        var signal: Int32 = 0
        do throws(SystemError) {
            try reactor.register(interrupts, for: .read) { [reactor] _ in
                signal = probe_next_signal(interrupts)
                if signal > 0 { reactor.stop() }
            }
        } catch {
            Console.standardError.write("error: signals can't be waited for: \(error.reason)\n")
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

    /// - Returns: whether all that was to be written is.
    func end() -> Bool {
        proxy.end()
        let isComplete = record?.finish() ?? true
        Console.standardError.write(
            "\(proxy.count) connections, \(received.toServer) bytes to the server, \(received.toClient) to the client"
                + (failures > 0 ? ", \(failures) not taken" : "") + "\n")
        return isComplete
    }
}
