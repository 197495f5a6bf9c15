/// The local endpoints on which a listener accepts connections: a port on one address or on all addresses.
package struct EndpointPattern: Sendable, Hashable {
    /// The address; `nil` if the listener accepts connections on every address.
    package let address: IPAddress?
    /// The only address family that a listener on every address accepts; `nil` if the listener accepts both families.
    package let family: IPAddress.Family?
    package let port: UInt16

    /// Creates the pattern for a listener that is bound to an endpoint; 0.0.0.0 and [::] match every address of their
    /// family.
    package init(_ endpoint: SocketEndpoint) {
        address = endpoint.address.isUnspecified ? nil : endpoint.address
        family = endpoint.address.family
        port = endpoint.port
    }

    /// Creates the pattern for a listener that is bound to a port on every address of both families.
    package init(anyAddressPort port: UInt16) {
        address = nil
        family = nil
        self.port = port
    }

    package var isExact: Bool { address != nil }

    package func matches(_ endpoint: SocketEndpoint) -> Bool {
        guard port == endpoint.port else { return false }
        if let address { return address == endpoint.address }
        return family == nil || family == endpoint.address.family
    }
}
