import CShims
import Glibc

/// Ends a connection without notifying its peer: neither a FIN nor an RST is sent, even if there are unread or unsent
/// bytes.
package struct Vanishing {
    private let connection: Connection

    /// Creates the operation for an open connection; must be called on the connection's reactor thread.
    package init(of connection: Connection) {
        self.connection = connection
    }

    /// The number of bytes that the peer's kernel has not acknowledged (SIOCOUTQ). The kernel would retransmit these
    /// bytes as long as the socket exists.
    package var unacknowledged: Int { max(0, Int(probe_unacknowledged_bytes(connection.raw))) }

    /// Whether both sides have ended the connection or one has reset it (the kernel's TCP_CLOSE and TCP_TIME_WAIT). In
    /// these states, the peer would not notice that the connection has vanished.
    package var hasEnded: Bool {
        var info = probe_tcp_info()
        // A socket without a TCP state, such as a Unix socket, is considered open.
        guard probe_tcp_info(connection.raw, &info) == 0 else { return false }
        return [6, 7].contains(info.state)
    }

    /// Ends the connection as if its host had rebooted: the host responds to later packets from the peer with an RST.
    /// Requires privileges: see ``TCPRepair``.
    package func end() throws(SystemError) {
        try TCPRepair.start(connection.raw)
        connection.wasAborted = true
        connection.hasVanished = true
        connection.release()
    }

    /// Ends the connection as if its host stayed down: nothing responds to later packets from the peer, until
    /// ``Connection/endLingering()``. The connection must have no ``unacknowledged`` bytes.
    package func endSilently() throws(SystemError) {
        if connection.reactor.isRegistered(connection.raw) { connection.reactor.unregister(connection.raw) }
        guard let socket = connection.descriptor.take() else { return }
        connection.silenced = try SilencedSocket(socket)
        connection.wasAborted = true
        connection.hasVanished = true
        connection.release()
    }
}

/// The socket of a connection that has vanished silently.
///
/// A filter on the socket (SO_ATTACH_FILTER, socket(7)) drops each packet before TCP processes it, so that neither an
/// ACK nor an RST is sent. The filter requires neither privileges nor a separate network. The socket stays open,
/// because the kernel would respond with an RST if there were no socket.
struct SilencedSocket: ~Copyable {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) throws(SystemError) {
        guard probe_drop_input(descriptor.raw) == 0 else { throw SystemError("setsockopt(SO_ATTACH_FILTER)") }
        self.descriptor = descriptor
    }

    /// Closes the socket silently or, if the repair state is not available, with an RST.
    deinit {
        do throws(SystemError) { try TCPRepair.start(descriptor.raw) } catch {
            var reset = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        }
    }
}
