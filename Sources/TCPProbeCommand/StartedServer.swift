import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeEngine
import ProbeSystem

/// A server that a command starts for the time of its run. It ends, with everything that it has started, when this
/// object is released.
final class StartedServer {
    let address: SocketAddress
    private let program: ChildProcess

    /// The time within which the server must listen.
    private static let patience = Duration.seconds(10)

    /// Starts a server on a free port, and waits until it listens.
    ///
    /// - Parameters:
    ///   - words: the words of the command, in which `{port}` is replaced with the port.
    ///   - interrupts: a descriptor that is readable after Ctrl-C was pressed.
    /// - Throws: the exit code for a machine error, after printing the message, if the server does not listen.
    init(_ words: [String], reactor: Reactor, interrupts: Int32) throws {
        let name = words[0]
        guard let path = ExecutableSearch.find(name) else {
            throw Failure.invalidUsage("there is no program named \(Escaped.text(name))")
        }
        do throws(SystemError) {
            let port = try PortAllocator(seed: getpid()).freePort(address: .loopback(port: 0))
            address = .loopback(port: port)
            let folder = SmallFile.linkTarget("/proc/self/cwd") ?? "/"
            program = try ChildProcess(
                path: path, words: words.map { $0.replacing("{port}", with: "\(port)") },
                environment: ProcessEnvironment.words(), directory: folder, reactor: reactor)
        } catch {
            throw Failure.machine("\(Escaped.text(name)) can't be started: \(error.reason)")
        }
        let end = MonotonicTime.now + Self.patience
        while !PortAllocator.isListenedOn(address.port) {
            program.look()
            guard program.isRunning else {
                throw Failure.machine("\(Escaped.text(name)) ended before it listened on port \(address.port)\(output)")
            }
            guard MonotonicTime.now < end else {
                throw Failure.machine(
                    "\(Escaped.text(name)) does not listen on port \(address.port) after \(DurationText.script(Self.patience))\(output)"
                )
            }
            var descriptor = pollfd(fd: interrupts, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 10) > 0 { throw ExitCode(128 + probe_next_signal(interrupts)) }
        }
    }

    /// Reports when the server ends although it is still needed.
    func watch() {
        program.onChange = { [unowned self] in
            guard !program.isRunning else { return }
            program.onChange = {}
            Console.standardError.write("error: the server has ended\(output)\n")
        }
    }

    /// The last lines that the server printed, for a message.
    private var output: String {
        let lines = program.outputLog.lines.suffix(3).map { "\n  " + Escaped.text($0.bytes) }
        return lines.isEmpty ? "" : "; it printed" + lines.joined()
    }
}
