import ArgumentParser
import Glibc
import ProbeBase
import ProbeEditor
import ProbeEngine
import ProbeSystem

struct LSPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lsp",
        abstract:
            "Run the language server: diagnostics, hovers, completions and formatting of scenarios, over stdin and stdout.",
        discussion: """
            The server is started by an editor, which communicates with it over the Language Server Protocol 3.17. It runs no scenario
            and opens no socket. docs/editors.md describes how to set it up in VS Code, Neovim and other editors.

            EXAMPLES:
              tcpprobe lsp

            EXIT CODES:
              0         the editor sent shutdown and exit
              1         the editor disconnected without sending them
              2         the input is not valid Language Server Protocol
            """)

    @OptionGroup var targets: TargetOptions

    /// The option `--stdio` is accepted because many editors pass it to every language server.
    @Flag(help: "Use standard input and output. This is always the case; the option is accepted for compatibility.")
    var stdio = false

    /// The maximum number of reads before the server responds, if the client keeps sending messages.
    private static let maxReads = 32

    func run() throws {
        if isatty(0) == 1 {
            Console.standardError.write(
                "tcpprobe lsp: this command is meant to be started by an editor; see docs/editors.md\n")
        }
        var server = EditorServer(
            version: TCPProbe.version, allowing: try targets.targets(), loader: FileAccess.load)
        var reads = 0
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while server.exitCode == nil {
            let count = try Self.read(into: &buffer)
            if count == 0 { break }
            do throws(MessageFraming.Failure) {
                try server.receive(buffer.span.extracting(first: count))
            } catch {
                try Self.write(server.settle())
                throw Failure.invalidUsage("standard input is not valid Language Server Protocol: \(error.text)")
            }
            reads += 1
            // If more messages are available, they are read first, so that results that a later message would supersede
            // are not computed.
            if reads < Self.maxReads, server.pendingCount < EditorServer.maxPending, Self.hasMoreInput { continue }
            reads = 0
            try Self.write(server.settle())
        }
        try Self.write(server.settle())
        if let code = server.exitCode {
            if code != 0 { throw ExitCode(code) }
            return
        }
        if server.isInsideMessage {
            Console.standardError.write("error: standard input ended in the middle of a message\n")
        }
        if server.codeAtEnd != 0 || server.isInsideMessage { throw ExitCode(1) }
    }

    private static var hasMoreInput: Bool {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 0) == 1
    }

    /// Returns the number of bytes read; 0 at the end of the input.
    private static func read(into buffer: inout [UInt8]) throws -> Int {
        while true {
            let count = Glibc.read(0, &buffer, buffer.count)
            if count >= 0 { return count }
            if errno == EAGAIN {
                var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
                _ = poll(&input, 1, -1)
            } else if errno != EINTR {
                Console.standardError.write(
                    "error: standard input can't be read: \(String(cString: strerror(errno)))\n")
                throw ExitCode(3)
            }
        }
    }

    /// Writes directly to standard output, because `Console` changes text that a CI runner would interpret as a
    /// command.
    private static func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var output = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                _ = poll(&output, 1, -1)
            } else if errno != EINTR {
                // The editor has closed its end of the pipe.
                if errno == EPIPE { throw ExitCode(1) }
                Console.standardError.write(
                    "error: standard output can't be written: \(String(cString: strerror(errno)))\n")
                throw ExitCode(3)
            }
        }
    }
}
