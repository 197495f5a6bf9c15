import ProbeSystem
import Glibc

/// A non-blocking stream socket, owned by one thread and closed in `deinit` at the latest.
///
/// The type is a class because a race between addresses keeps several sockets in an array. While the connection may
/// still be read, SO_ERROR must not be read: reading it would consume ECONNRESET, and the next `recv` would return EOF
/// for a reset connection.
final class StreamSocket {
    /// The result of one system call.
    enum Outcome: Equatable {
        case bytes(Int)
        case wouldBlock
        case failed(SystemError)
    }

    /// The file descriptor; -1 after the socket has been closed.
    private(set) var descriptor: CInt

    /// Creates a socket for addresses of `family`. Nagle's algorithm is disabled, so that each message is sent at once.
    init(family: CInt) throws(SystemError) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(family, kind, 0)
        if descriptor < 0 { throw SystemError.subject() }
        set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Takes ownership of a non-blocking descriptor from `accept`.
    init(accepted descriptor: CInt) {
        self.descriptor = descriptor
        set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    deinit {
        shut()
    }

    /// Binds to a local address, and to the network interface with the given name. A value of `nil` leaves the choice
    /// to the system.
    func bind(to local: SocketAddress?, interface: String?) throws(SystemError) {
        if let interface { try Self.bind(descriptor, to: interface) }
        guard let local else { return }
        // A connection in TIME_WAIT that has the same port must not prevent the bind.
        set(SOL_SOCKET, SO_REUSEADDR, 1)
        if local.withSystemAddress({ Glibc.bind(descriptor, $0, $1) }) != 0 { throw SystemError.subject() }
    }

    /// Restricts a socket to the network interface with the given name.
    static func bind(_ descriptor: CInt, to interface: String) throws(SystemError) {
        let name = Array(interface.utf8)
        if setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count)) != 0 {
            throw SystemError.subject()
        }
    }

    /// Calls `connect`; returns ``Outcome/wouldBlock`` while it is in progress.
    func connect(to address: SocketAddress) -> Outcome {
        let result = address.withSystemAddress { Glibc.connect(descriptor, $0, $1) }
        if result == 0 { return .bytes(0) }
        // An interrupted `connect` continues in the background.
        return errno == EINPROGRESS || errno == EINTR ? .wouldBlock : .failed(SystemError.subject())
    }

    /// Calls `recv` once; `.bytes(0)` means EOF. An interrupted call is treated as `wouldBlock`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }

    /// Calls `send` once, without raising SIGPIPE. An interrupted call is treated as `wouldBlock`.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        outcome(Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)))
    }

    /// Sends a FIN after the written bytes. An error is ignored: it means that the connection has ended, which `recv`
    /// reports.
    func shutdownWrite() {
        _ = shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Closes the connection with an RST and drops the bytes that the kernel has not sent.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        shut()
    }

    /// Closes the socket.
    func shut() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Whether the socket is connected to itself, which can happen when it connects to a free port in the ephemeral
    /// range (RFC 9293, simultaneous open).
    var isConnectedToItself: Bool {
        guard let local = SocketAddress.local(of: descriptor), let remote = SocketAddress.peer(of: descriptor)
        else { return false }
        return local == remote
    }

    /// The error with which the connection failed after the peer's FIN. In that state, `recv` does not report the
    /// error, and the kernel reports an RST as EPIPE.
    var errorAfterFIN: SystemError {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return SystemError.subject(code == 0 || code == EPIPE ? ECONNRESET : code)
    }

    func set(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        // A failure is ignored: without the option, latency increases or a bind may fail, but the data is still
        // correct.
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private func outcome(_ result: Int) -> Outcome {
        if result >= 0 { return .bytes(result) }
        let error = SystemError.subject()
        return error.isTransient ? .wouldBlock : .failed(error)
    }
}
