import Glibc

/// A socket option with its value.
package enum RawSocketOption: Sendable, Equatable {
    /// The buffer size in bytes. The kernel doubles the value for its own bookkeeping, and enforces a minimum.
    case receiveBuffer(Int32)
    case sendBuffer(Int32)
    case noDelay(Bool)
    case keepAlive(Bool)
    /// The interval between keep-alive probes in seconds, at least 1.
    case keepAliveEvery(Int32)

    package func apply(to descriptor: Int32) throws(SystemError) {
        switch self {
        case .receiveBuffer(let size): try set(descriptor, SOL_SOCKET, SO_RCVBUF, size)
        case .sendBuffer(let size): try set(descriptor, SOL_SOCKET, SO_SNDBUF, size)
        case .noDelay(let on): try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, on ? 1 : 0)
        case .keepAlive(let on): try set(descriptor, SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0)
        case .keepAliveEvery(let seconds):
            try set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
            try set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds)
            try set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, seconds)
        }
    }

    private func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) throws(SystemError) {
        var value = value
        if setsockopt(descriptor, level, name, &value, 4) < 0 { throw SystemError("setsockopt") }
    }
}

extension Connection {
    package func set(_ option: RawSocketOption) throws(SystemError) { try option.apply(to: raw) }
}
