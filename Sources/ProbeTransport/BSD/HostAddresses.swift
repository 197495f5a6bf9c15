/// The addresses of a host, for transports of libraries that have no resolver.
package enum HostAddresses {
    /// Looks a name up on the calling thread, which may take seconds; a numeric address is its own.
    ///
    /// - Returns: numeric addresses in the resolver's order (RFC 6724), at least one.
    /// - Throws: `other` with the resolver's words.
    package static func look(_ host: String) throws(TransportError) -> [String] {
        switch NameResolution.look(host: host, port: 0, flags: 0) {
        case .success(let addresses):
            let hosts = addresses.compactMap(\.host)
            if hosts.isEmpty { throw .other("\(host): no address") }
            return hosts
        case .failure(let failure): throw .other(failure.detail)
        }
    }
}
