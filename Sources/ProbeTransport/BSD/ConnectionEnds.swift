import ProbeBase
import ProbeSystem

/// A connection's remote end, its local end, and the address family to try first.
struct ConnectionEnds: Sendable, Equatable {
    var host: String
    var port: UInt16
    /// The address of the Unix socket to use instead of the host, port and local end; `nil` for TCP.
    var path: SocketAddress?
    /// The local address, whose port may be 0; `nil` lets the system choose.
    var local: SocketAddress?
    /// The network interface; `nil` for any.
    var interface: String?
    var preference: AddressPreference?

    /// Creates the ends of the connection that a configuration describes.
    ///
    /// - Throws: `invalid` if the local address is not numeric.
    init(_ configuration: TransportConfiguration) throws(TransportError) {
        host = configuration.host
        port = configuration.port
        interface = configuration.interface
        preference = configuration.preference
        if let path = configuration.path {
            guard let address = SocketAddress(unixPath: path) else { throw .invalid }
            self.path = address
        }
        guard let host = configuration.localHost else { return }
        guard let address = SocketAddress(numeric: host, port: configuration.localPort) else { throw .invalid }
        local = address
    }

    /// Returns the addresses that can be reached from the local end: those of the local end's family, or all addresses
    /// if no local end is set. The preferred family is first; otherwise the addresses are in the given order.
    func ordered(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let usable = addresses.filter { local == nil || local?.family == $0.family }
        guard let preference else { return usable }
        let isFirst = { (address: SocketAddress) in address.endpoint?.address.family == preference.family }
        return usable.filter(isFirst) + usable.filter { !isFirst($0) }
    }
}
