import ProbeSystem
import Glibc

/// A non-blocking TCP socket; owned by one thread, closed on `deinit` at the latest.
///
/// A class, because a race between addresses keeps several of them in an array. No method asks for SO_ERROR: that would take
/// ECONNRESET away from the next `recv`, which would then call a reset an EOF.
final class StreamSocket {
    /// What one system call came to.
    enum Outcome: Equatable {
        case bytes(Int)
        case wouldBlock
        case failed(SystemError)
    }

    /// -1 once closed.
    private(set) var descriptor: CInt

    /// A new socket for addresses of `family`, without Nagle's algorithm: a message leaves when it is sent.
    init(family: CInt) throws(SystemError) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(family, kind, 0)
        if descriptor < 0 { throw SystemError.subject() }
        set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Takes over a descriptor that `accept4` gave, non-blocking.
    init(accepted descriptor: CInt) {
        self.descriptor = descriptor
        set(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    deinit {
        shut()
    }

    /// `connect`; ``Outcome/wouldBlock`` while it is under way.
    func connect(to address: SocketAddress) -> Outcome {
        let result = address.withSystemAddress { Glibc.connect(descriptor, $0, $1) }
        if result == 0 { return .bytes(0) }
        // Interrupted, it goes on by itself.
        return errno == EINPROGRESS || errno == EINTR ? .wouldBlock : .failed(SystemError.subject())
    }

    /// One `recv`; `.bytes(0)` is EOF. An interrupted call counts as one that would block.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }

    /// One `send` that raises no SIGPIPE. An interrupted call counts as one that would block.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        outcome(Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)))
    }

    /// Sends FIN behind what was written. An error means that there is no connection any more, which `recv` tells.
    func shutdownWrite() {
        _ = shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Closes with RST and drops what the kernel has not sent.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        shut()
    }

    /// Closes.
    func shut() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// A connect to a free port of the range for outgoing connections can meet itself (RFC 9293, simultaneous open).
    var isConnectedToItself: Bool {
        guard let local = SocketAddress.local(of: descriptor), let remote = SocketAddress.peer(of: descriptor)
        else { return false }
        return local == remote
    }

    func set(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        // A missing option costs latency or a restart, never correctness.
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private func outcome(_ result: Int) -> Outcome {
        if result >= 0 { return .bytes(result) }
        let error = SystemError.subject()
        return error.isTransient ? .wouldBlock : .failed(error)
    }
}
