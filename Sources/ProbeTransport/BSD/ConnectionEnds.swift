import ProbeBase
import ProbeSystem

/// Where a connection is to go, where its own end is to be, and which addresses it tries first.
struct ConnectionEnds: Sendable, Equatable {
    var host: String
    var port: UInt16
    /// A Unix socket instead of both.
    var path: SocketAddress?
    /// nil: the system chooses. Its port may be 0.
    var local: SocketAddress?
    /// nil: any.
    var interface: String?
    var preference: AddressPreference?

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

    /// Those that can be reached from the local end, the preferred family first; else in their order.
    func ordered(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let usable = addresses.filter { local == nil || local?.family == $0.family }
        guard let preference else { return usable }
        let isFirst = { (address: SocketAddress) in address.endpoint?.address.family == preference.family }
        return usable.filter(isFirst) + usable.filter { !isFirst($0) }
    }
}
