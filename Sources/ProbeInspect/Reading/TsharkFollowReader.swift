package import ProbeBase
import ProbeWire

/// Parses the output of `tshark -q -z follow,tls,raw,N` line by line. The output states which endpoint is node 0, and
/// contains the data as hexadecimal digits. A tab precedes the data of the other endpoint. Never traps on any input.
package struct TsharkFollowReader {
    private let client: SocketEndpoint
    private let server: SocketEndpoint
    /// The side whose data lines do not begin with a tab.
    private var first: ConversationSide?

    package init(client: SocketEndpoint, server: SocketEndpoint) {
        self.client = client
        self.server = server
    }

    /// Parses a line of the output.
    ///
    /// - Returns: the sender and the bytes of a data line; `nil` for any other line.
    package mutating func read(_ line: some Collection<UInt8>) -> (side: ConversationSide, bytes: [UInt8])? {
        let line = Array(line)
        let node = Array("Node 0: ".utf8)
        if line.starts(with: node) {
            first = side(of: String(decoding: line.dropFirst(node.count), as: UTF8.self))
            return nil
        }
        guard let first else { return nil }
        let isOther = line.first == 0x09
        let digits = line.drop { $0 == 0x09 }.prefix { $0 != 0x0d && $0 != 0x0a }
        guard let bytes = Self.bytes(ofHexadecimal: digits), !bytes.isEmpty else { return nil }
        return (isOther ? first.opposite : first, bytes)
    }

    /// Returns the side whose endpoint is given as text such as `127.0.0.1:80`, `::1:80` or `[::1]:80`.
    private func side(of text: String) -> ConversationSide? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        return Self.side(host: String(host), port: port, client: client, server: server)
    }

    /// Returns the side with the given port. If `host` is an IP address, the side must also have that address.
    static func side(
        host: String, port: UInt16, client: SocketEndpoint, server: SocketEndpoint
    ) -> ConversationSide? {
        let address = IPAddress(host)
        let sides = ConversationSide.allCases.filter { side in
            let end = side == .client ? client : server
            return end.port == port && (address == nil || address == end.address)
        }
        return sides.count == 1 ? sides[0] : nil
    }

    private static func bytes(ofHexadecimal digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x41...0x46: value = digit - 0x41 + 10
            case 0x61...0x66: value = digit - 0x61 + 10
            default: return nil
            }
            if let some = high {
                bytes.append(some << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
