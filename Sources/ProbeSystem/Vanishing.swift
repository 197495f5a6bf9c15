import CShims
import Glibc

/// The ends of a connection that its peer is not told of: no FIN and no RST, whatever is unread or unsent.
package struct Vanishing {
    private let connection: Connection

    /// Of an open connection, on its reactor's thread.
    package init(of connection: Connection) {
        self.connection = connection
    }

    /// How many bytes the peer's kernel has not acknowledged (SIOCOUTQ). It would be sent them again while the socket is there.
    package var unacknowledged: Int { max(0, Int(probe_unacknowledged_bytes(connection.raw))) }

    /// Both sides have ended the connection, or one has reset it (TCP_CLOSE and TCP_TIME_WAIT of the kernel): its peer would notice nothing.
    package var hasEnded: Bool {
        var info = probe_tcp_info()
        // What can't be asked, such as a Unix socket, has not ended.
        guard probe_tcp_info(connection.raw, &info) == 0 else { return false }
        return [6, 7].contains(info.state)
    }

    /// Its host is up again, and answers what the peer sends later by an RST. It takes a privilege: see ``TCPRepair``.
    package func end() throws(SystemError) {
        try TCPRepair.start(connection.raw)
        connection.wasAborted = true
        connection.hasVanished = true
        connection.release()
    }

    /// Its host stays away: nothing answers what the peer sends later, until ``Connection/endLingering()``. Of a connection without
    /// ``unacknowledged`` bytes.
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
/// A filter of the socket (SO_ATTACH_FILTER, socket(7)) drops each packet before TCP sees it: no ACK and no RST leaves. That takes no
/// privilege, and no network of its own. The socket stays open for it: the kernel answers where there is none.
struct SilencedSocket: ~Copyable {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) throws(SystemError) {
        guard probe_drop_input(descriptor.raw) == 0 else { throw SystemError("setsockopt(SO_ATTACH_FILTER)") }
        self.descriptor = descriptor
    }

    /// Nobody looks at it any more: the kernel sends an RST where it can't be kept from it.
    deinit {
        do throws(SystemError) { try TCPRepair.start(descriptor.raw) } catch {
            var reset = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        }
    }
}
