import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The folder of a case for its Unix sockets and the files that its workers share; created when it is first needed.
struct SocketFolder {
    private(set) var path: String?

    /// Returns the address of an actor's Unix socket.
    mutating func address(for actor: String, at span: SourceSpan?) throws(Finding) -> SocketAddress {
        let folder = try made(at: span)
        let path = "\(folder)/\(actor)"
        guard let address = SocketAddress(unixPath: path) else {
            throw Finding(
                .error, at: span,
                "the path of \(actor)'s Unix socket has \(path.utf8.count) bytes, but the limit is \(SocketAddress.longestPath): \(Escaped.text(path.utf8))",
                hints: ["set TMPDIR to a folder with a shorter path"])
        }
        return address
    }

    /// Returns the path of a file in the folder. The file either doesn't exist yet or was created by one of the case's
    /// workers.
    mutating func file(_ name: String, at span: SourceSpan?) throws(Finding) -> String {
        "\(try made(at: span))/\(name)"
    }

    private mutating func made(at span: SourceSpan?) throws(Finding) -> String {
        if let path { return path }
        let made = try TemporaryFolder.make(at: span)
        path = made
        return made
    }
}

/// Temporary folders below `TMPDIR`, which are removed at the end of the case.
enum TemporaryFolder {
    static func make(at span: SourceSpan? = nil) throws(Finding) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        do throws(SystemError) {
            return try ResourceTracker.makeFolder(in: base)
        } catch {
            throw Finding(
                .error, at: span, "can't create a temporary folder in \(base): \(error.reason)",
                hints: ["set TMPDIR to a folder in which temporary folders can be created"])
        }
    }
}
