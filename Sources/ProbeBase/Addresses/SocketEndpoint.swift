/// An address and a port.
package struct SocketEndpoint: Sendable, Hashable {
    package var address: IPAddress
    package var port: UInt16

    @inlinable package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    @inlinable @inline(__always)
    package static func == (left: SocketEndpoint, right: SocketEndpoint) -> Bool {
        left.port == right.port && left.address == right.address
    }

    /// The endpoint with an IPv4-mapped IPv6 address replaced with the IPv4 address that it represents.
    package var unmapped: SocketEndpoint { SocketEndpoint(address: address.unmapped, port: port) }

    /// Creates an endpoint from text such as `127.0.0.1:80` or `[::1]:80`.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            return nil
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let address = IPAddress(String(host)), (address.family == .v6) == isBracketed else { return nil }
        self.init(address: address, port: port)
    }
}

extension SocketEndpoint: CustomStringConvertible {
    /// The endpoint as text: `127.0.0.1:80` or `[::1]:80`.
    package var description: String {
        switch address.family {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }
}

extension SocketEndpoint: Comparable {
    package static func < (left: SocketEndpoint, right: SocketEndpoint) -> Bool {
        left.address != right.address ? left.address < right.address : left.port < right.port
    }
}
