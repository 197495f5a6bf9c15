package import ProbeSystem
import CShims

/// One end of a link: its network, and its addresses in that network.
package struct LinkEnd: Sendable {
    package let namespace: NetworkNamespace
    package let ipv4: SocketAddress
    package let ipv6: SocketAddress
    /// The socket that sends fence markers, which cross the link like the packets of this end.
    let marker: FrameSocket

    /// Creates the network at this end of the link, and a pair of interfaces that connects it to the middle network.
    init(_ side: LinkSide, of number: Int, middle: NetworkNamespace) throws(SystemError) {
        let namespace = try NetworkNamespace()
        let host = side == .left ? 1 : 2
        let (v4, v6) = ("10.77.\(number).\(host)", "fd77:\(String(number, radix: 16))::\(host)")
        guard let ipv4 = SocketAddress(numeric: v4, port: 0), let ipv6 = SocketAddress(numeric: v6, port: 0) else {
            throw SystemError("inet_pton", code: 22)
        }
        let name = Self.interface(side, of: number)
        try middle.run { () throws(SystemError) in
            if probe_make_pair(name, namespace.descriptor) < 0 {
                throw SystemError(
                    "creating a pair of veth interfaces")
            }
        }
        marker = try namespace.run { () throws(SystemError) in
            if probe_set_up_end(v4, v6) < 0 { throw SystemError("setting up link0") }
            return try FrameSocket(interface: "link0", receives: false)
        }
        (self.namespace, self.ipv4, self.ipv6) = (namespace, ipv4, ipv6)
    }

    /// Returns the name of the interface at the other end of the pair, in the middle network.
    static func interface(_ side: LinkSide, of number: Int) -> String { "l\(number)\(side == .left ? "a" : "b")" }
}
