/// The endpoints on which a listener accepts connections: one address or all addresses, and a port.
package struct EndpointPattern: Sendable, Hashable {
    /// The address; `nil` for a listener on all addresses.
    package let address: IPAddress?
    /// The family of a listener on all addresses, if it accepts only one; `nil` if it accepts both.
    package let family: IPAddress.Family?
    package let port: UInt16

    /// Creates the pattern of this endpoint, or of all addresses of its family if its address is 0.0.0.0 or [::].
    package init(_ endpoint: SocketEndpoint) {
        address = endpoint.address.isUnspecified ? nil : endpoint.address
        family = endpoint.address.family
        port = endpoint.port
    }

    /// Creates the pattern of this port on all addresses.
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
