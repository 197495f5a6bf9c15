import ProbeBase
import Glibc
import ProbeEvents
import ProbeTransport

/// The transports that `--transport` accepts. Some transports are part of this program; the other transports are in
/// `tcpprobe-subjects`.
enum BuiltInTransports {
    private static let own: [any TransportFactory] = [BSDTransportFactory(), AsyncSocketTransportFactory()]

    /// The names of all transports, in the order in which they are listed.
    static let names = own.map(\.name) + SubjectsProgram.names

    /// The names of the transports that can be run. `tcpprobe-subjects`, which contains the third-party transports, may
    /// not be installed.
    static var available: [String] { own.map(\.name) + (SubjectsProgram.isThere ? SubjectsProgram.names : []) }

    /// Returns the transport with the given name in this program; `nil` if this program has no such transport.
    static func factory(named name: String) -> (any TransportFactory)? {
        own.first { $0.name == name }
    }

    /// Returns the subject for the transport with the given name.
    ///
    /// - Throws: the exit code for invalid usage if no transport has this name, or if the transport's program is
    ///   missing.
    static func source(named name: String, names: SubjectNames) throws -> any SubjectSource {
        if let factory = factory(named: name) {
            return InProcessSource(factory, program: [executablePath(), "adapter", name], names: names)
        }
        let path = try SubjectsProgram.path(for: name)
        do throws(SubjectFailure) {
            return try AdapterSource(transport: name, words: [path, name], names: names)
        } catch {
            throw Failure.invalidUsage("--transport \(name): \(error.summary)")
        }
    }

    static func unknown(_ name: String) -> any Error {
        Failure.invalidUsage(
            "unknown transport \(Escaped.text(name.utf8)): expected one of " + names.joined(separator: ", "))
    }
}

/// The program `tcpprobe-subjects`, which contains the third-party transports. These transports are not linked into
/// `tcpprobe`, so that `tcpprobe` starts faster.
enum SubjectsProgram {
    static let names = ["nio", "nio-websocket", "flyingsocks"]
    private static let file = "tcpprobe-subjects"

    static var isThere: Bool { places.contains { access($0, X_OK) == 0 } }

    private static var places: [String] { CompanionProgram.places(of: file) }

    /// Returns the path of `tcpprobe-subjects`, which is in the folder of this program (after a build) or in
    /// `libexec/tcpprobe` (after `make install`).
    ///
    /// - Throws: the exit code for invalid usage if the program has no such transport or is in neither folder.
    static func path(for name: String) throws -> String {
        guard names.contains(name) else { throw BuiltInTransports.unknown(name) }
        let places = places
        if let found = places.first(where: { access($0, X_OK) == 0 }) { return found }
        throw Failure.invalidUsage(
            "the transport \(name) requires the program \(file), which was not found at \(places.joined(separator: " or ")); "
                + "`make build-subjects` builds it, and `make install` installs both programs")
    }

    /// Replaces this process with `tcpprobe-subjects`, which then serves the transport. Returns only on failure.
    ///
    /// - Throws: the errors that ``path(for:)`` throws, or the reason why the program can't be started.
    static func become(for name: String) throws {
        let path = try path(for: name)
        var words = [strdup(path), strdup(name), nil]
        execv(path, &words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        throw Failure.invalidUsage("can't start \(path): \(reason)")
    }
}
