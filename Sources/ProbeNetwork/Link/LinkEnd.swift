package import ProbeSystem
import CShims

/// One end of a link: its network, and its addresses there.
package struct LinkEnd: Sendable {
    package let namespace: NetworkNamespace
    package let ipv4: SocketAddress
    package let ipv6: SocketAddress
    /// Sends markers that pass the link like the packets of the end.
    let marker: FrameSocket

    /// Makes the network, and a pair of interfaces between it and the one in the middle.
    init(_ side: LinkSide, of number: Int, middle: NetworkNamespace) throws(SystemError) {
        let namespace = try NetworkNamespace()
        let host = side == .left ? 1 : 2
        let (v4, v6) = ("10.77.\(number).\(host)", "fd77:\(String(number, radix: 16))::\(host)")
        guard let ipv4 = SocketAddress(numeric: v4, port: 0), let ipv6 = SocketAddress(numeric: v6, port: 0) else {
            throw SystemError("inet_pton", code: 22)
        }
        let name = Self.interface(side, of: number)
        try middle.run { () throws(SystemError) in
            if probe_make_pair(name, namespace.descriptor) < 0 { throw SystemError("making a pair of veth interfaces") }
        }
        marker = try namespace.run { () throws(SystemError) in
            if probe_set_up_end(v4, v6) < 0 { throw SystemError("setting up link0") }
            return try FrameSocket(interface: "link0", receives: false)
        }
        (self.namespace, self.ipv4, self.ipv6) = (namespace, ipv4, ipv6)
    }

    /// The other end's name in the network in the middle.
    static func interface(_ side: LinkSide, of number: Int) -> String { "l\(number)\(side == .left ? "a" : "b")" }
}
