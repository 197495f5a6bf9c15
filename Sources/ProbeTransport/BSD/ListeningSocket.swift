import ProbeSystem
import Glibc

/// A non-blocking listening socket, closed on `deinit`.
final class ListeningSocket: Sendable {
    /// The result of one `accept`.
    enum Outcome {
        case connection(CInt)
        /// No connection is pending, or the peer closed the pending connection before it was accepted.
        case noConnection
        case failed(SystemError)
    }

    let descriptor: CInt
    /// The port in host order; 0 for a Unix socket.
    let port: UInt16
    /// The path of a Unix socket, which is removed when the socket is closed; `nil` for TCP.
    private let path: String?

    /// Creates a listening socket.
    ///
    /// - Parameter interface: the name of the network interface whose connections the socket accepts; `nil` for all.
    init(_ address: SocketAddress, interface: String? = nil) throws(SystemError) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, 0)
        if descriptor < 0 { throw SystemError.subject() }
        var yes: CInt = 1
        // Connections from an earlier run that are in TIME_WAIT must not prevent listening.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        do {
            if let interface { try StreamSocket.bind(descriptor, to: interface) }
        } catch {
            close(descriptor)
            throw error
        }
        guard address.withSystemAddress({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, Self.backlog) == 0,
            let local = SocketAddress.local(of: descriptor)
        else {
            let error = SystemError.subject()
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        port = local.port
        path = address.path
    }

    deinit {
        // A program that another thread is starting has a copy of the descriptor until it calls `exec`. `shutdown` also
        // stops the copy from listening.
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
        if let path { unlink(path) }
    }

    /// Accepts a connection. Its descriptor is non-blocking and close-on-exec, and belongs to the caller.
    func accept() -> Outcome {
        let connection = Glibc.accept(descriptor, nil, nil)
        if connection >= 0 {
            // On Linux, an accepted socket inherits neither O_NONBLOCK nor FD_CLOEXEC. The gap between `accept` and
            // `fcntl` is harmless, because starting a program closes all other descriptors in the new process.
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            _ = fcntl(connection, F_SETFL, O_NONBLOCK)
            return .connection(connection)
        }
        let error = SystemError.subject()
        switch error.code {
        case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENONET,
            ENOPROTOOPT, EOPNOTSUPP, EPERM:
            return .noConnection
        default: return .failed(error)
        }
    }

    private static let backlog: CInt = 128
}
