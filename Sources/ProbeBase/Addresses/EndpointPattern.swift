/// Which endpoints a listener answers for: one address, or all addresses, and a port.
package struct EndpointPattern: Sendable, Hashable {
    /// nil for a listener on all addresses.
    package let address: IPAddress?
    /// Of a listener on all addresses: the only family that it answers for; nil where it may be both.
    package let family: IPAddress.Family?
    package let port: UInt16

    /// Exactly this endpoint, or every address of its family where the address is 0.0.0.0 or [::].
    package init(_ endpoint: SocketEndpoint) {
        address = endpoint.address.isUnspecified ? nil : endpoint.address
        family = endpoint.address.family
        port = endpoint.port
    }

    /// The port of every address.
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
