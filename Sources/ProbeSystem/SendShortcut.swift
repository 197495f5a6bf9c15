import ProbeBase
import Glibc

/// Operations for code that forwards bytes, in addition to queued sends: writing without a queue, and taking queued
/// bytes back.
///
/// Must be used on the thread of the connection's reactor.
package struct SendShortcut {
    private let connection: Connection

    package init(of connection: Connection) { self.connection = connection }

    /// Passes bytes to the kernel immediately, if no send is queued or in progress.
    ///
    /// - Returns: the number of bytes that the kernel has accepted. It is also 0 if the connection has ended; the next
    ///   read then reports the end.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard connection.isIdle, connection.raw >= 0, let base = bytes.baseAddress else { return 0 }
        while true {
            let count = Glibc.send(connection.raw, base, bytes.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            // The kernel reports an RST only once, and has now reported it to `send`.
            if count < 0, errno == ECONNRESET { connection.resetWasConsumed = true }
            guard count > 0 else { return 0 }
            connection.bytesSent += count
            connection.lastSent = .now
            connection.lastWasCut = false
            return count
        }
    }

    /// Ends the sends that are queued or in progress.
    ///
    /// - Returns: the bytes of these sends that the kernel has not accepted.
    package func takeBack() -> [UInt8] {
        var rest: [UInt8] = []
        for operation in connection.outgoing {
            rest += operation.bytes[operation.taken...]
            operation.state = .abandoned
        }
        connection.cutSends.removeAll { if case .abandoned = $0.state { true } else { false } }
        connection.outgoing = []
        connection.wantsWrite = false
        if let timer = connection.sendTimer { connection.reactor.cancel(timer) }
        connection.sendTimer = nil
        connection.updateInterest()
        return rest
    }
}
