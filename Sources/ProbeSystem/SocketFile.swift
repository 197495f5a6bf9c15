import Glibc
import ProbeBase
import Synchronization

/// The file of a Unix socket: its identity, whether a process listens on it, and how it is removed.
package struct SocketFile: Sendable, Hashable {
    /// The identity of the folder that contains the socket. Together with `name`, it is equal for different spellings
    /// of the same path.
    private let folder: FileStatus.Identity?
    /// The socket's name in the folder, or the whole path if the folder can't be accessed.
    private let name: String
    /// The path as given by the caller, used in system calls and messages.
    package let path: String

    /// Creates the identity of a path.
    ///
    /// - Parameter path: an absolute path, in which the system resolves `.`, `..` and symbolic links.
    package init(_ path: String) {
        let resolved = Self.target(of: path)
        let parts = resolved.split(separator: "/")
        let parent = "/" + parts.dropLast().joined(separator: "/")
        folder = FileStatus(at: parent)?.identity
        name = folder == nil ? resolved : parts.last.map(String.init) ?? ""
        self.path = path
    }

    package static func == (left: SocketFile, right: SocketFile) -> Bool {
        (left.folder, left.name) == (right.folder, right.name)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(folder)
        hasher.combine(name)
    }

    /// Returns the target if the path is a symbolic link; otherwise returns the path unchanged.
    private static func target(of path: String) -> String {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(path, nil) else {
            return path
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns the identity of the socket at a path; `nil` if there is no file, or a file of another type.
    private static func socket(at path: String) -> FileStatus.Identity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return FileStatus(status).identity
    }

    /// Whether a socket on which a process listens exists at the path.
    package var isListenedOn: Bool {
        // If no descriptor is available for the check, the answer is `false`, so that the caller does not wait.
        guard Self.socket(at: path) != nil, (try? Self.removeAbandoned(path)) != nil else { return false }
        return Self.socket(at: path) != nil
    }

    /// Removes a socket on which no process listens. A file of another type, or the socket of a running program, is not
    /// removed.
    ///
    /// - Throws: an error if no descriptor is available for the check.
    package static func removeAbandoned(_ path: String) throws(SystemError) {
        guard let found = socket(at: path), let address = SocketAddress(unixPath: path) else { return }
        // The probe is non-blocking, so that `connect` returns immediately: with EAGAIN for a listener with a full
        // queue, and with EPROTOTYPE for a datagram socket.
        let probe = try openSocket(for: address)
        guard address.withSystemAddress({ connect(probe.raw, $0, $1) }) < 0, errno == ECONNREFUSED else { return }
        remove(path, ifStill: found)
    }

    /// Removes the socket, unless another socket has replaced it.
    private static func remove(_ path: String, ifStill identity: FileStatus.Identity) {
        if socket(at: path) == identity { unlink(path) }
    }

    // MARK: Sockets of this process

    private static let own = Mutex<[String: FileStatus.Identity]>([:])

    /// Records the socket that this process has just bound, so that the socket's file is removed regardless of how the
    /// run ends.
    package static func bound(_ path: String) {
        guard let identity = socket(at: path) else { return }
        own.withLock { $0[path] = identity }
    }

    /// Removes the file at the path if the file was left by this process or by a program that has ended.
    package static func release(_ path: String) {
        if let identity = own.withLock({ $0.removeValue(forKey: path) }) { remove(path, ifStill: identity) }
        // If the file can't be examined for lack of descriptors, the file is kept. The next case that needs the path
        // examines it again.
        try? removeAbandoned(path)
    }

    /// Removes the file of every socket that this process has bound, even if the socket is still listening.
    package static func releaseAll() {
        let all = own.withLock { own in
            defer { own = [:] }
            return own
        }
        for (path, identity) in all { remove(path, ifStill: identity) }
    }

    // MARK: Other runs

    /// An abstract socket name that represents the file. No other process can bind the name while the descriptor is
    /// open.
    private var reservedName: String {
        let place = folder.map { "\($0.device)/\($0.number)" } ?? "none"
        return "tcpprobe/unix/\(place)/\(String(FNV1a(name).value, radix: 16))"
    }

    /// Reserves the file for this process, in this network namespace.
    package func reserve() throws(SystemError) -> ReservationResult {
        guard let address = SocketAddress(abstractName: reservedName) else { return .unknown }
        let socket = try openSocket(for: address)
        if address.withSystemAddress({ bind(socket.raw, $0, $1) }) == 0 {
            // The socket listens, so that a process that finds the name in use can connect to determine its owner.
            _ = listen(socket.raw, 64)
            return .reserved(Reservation(socket))
        }
        guard errno == EADDRINUSE else { return .unknown }
        // `struct ucred`: process, user, group.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var length = socklen_t(12)
        let isConnected = address.withSystemAddress { connect(socket.raw, $0, $1) } == 0
        let isKnown =
            isConnected && getsockopt(socket.raw, SOL_SOCKET, Int32(SO_PEERCRED), &credentials, &length) == 0
        return .held(byProcess: isKnown ? credentials.process : nil)
    }

    package enum ReservationResult {
        case reserved(Reservation)
        /// A case in another run has reserved the file.
        case held(byProcess: Int32?)
        /// The system has no abstract socket names, so reservations by other runs can't be detected.
        case unknown
    }

    /// Reserves a file for this process until the reservation is released.
    package final class Reservation {
        private let socket: OwnedDescriptor

        fileprivate init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
    }
}
