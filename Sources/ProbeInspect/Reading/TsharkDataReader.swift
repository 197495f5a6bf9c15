package import ProbeBase
import ProbeWire

/// Parses the output of `tshark -q -z follow,tls,yaml,N` line by line. The output contains the decrypted data, with the
/// number of the frame that completed each part. Never traps on any input.
package struct TsharkDataReader {
    package struct Part: Sendable, Equatable {
        package var side: ConversationSide
        /// The number of the frame, counting from 1.
        package var frame: Int
        /// The time in nanoseconds since 1970; `nil` if tshark does not report it.
        package var time: UInt64?
        package var bytes: [UInt8]

        package init(side: ConversationSide, frame: Int, time: UInt64?, bytes: [UInt8]) {
            (self.side, self.frame, self.time, self.bytes) = (side, frame, time, bytes)
        }
    }

    private let client: SocketEndpoint
    private let server: SocketEndpoint
    /// The side of each endpoint, by the number that tshark assigns to the endpoint.
    private var sides: [Int: ConversationSide] = [:]
    private var peer: (number: Int, host: String)?
    private var packet: (frame: Int, peer: Int?, time: UInt64?)?
    /// The Base64 lines read so far; `nil` if no Base64 line is expected.
    private var text: [UInt8]?

    package init(client: SocketEndpoint, server: SocketEndpoint) {
        self.client = client
        self.server = server
    }

    /// Parses a line of the output.
    ///
    /// - Returns: the part that ended before this line, if any.
    package mutating func read(_ line: [UInt8]) -> Part? {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\r" })
        if text != nil, words.count == 1, line.first == 0x20, words[0].last != ":" {
            text?.append(contentsOf: words[0].utf8)
            return nil
        }
        let part = finish()
        switch words.first {
        case "-" where words.count == 3 && words[1] == "peer:":
            (peer, packet) = (Int(words[2]).map { ($0, "") }, nil)
        case "-" where words.count == 3 && words[1] == "packet:":
            (peer, packet) = (nil, Int(words[2]).map { ($0, nil, nil) })
        case "host:" where words.count == 2: peer?.host = String(words[1])
        case "port:" where words.count == 2:
            guard let peer, let port = UInt16(words[1]) else { break }
            let side = TsharkFollowReader.side(host: peer.host, port: port, client: client, server: server)
            // tshark does not always report both endpoints, so the number of an unreported endpoint is derived from the
            // number of the other endpoint.
            if let side, 0...1 ~= peer.number { sides = [peer.number: side, 1 - peer.number: side.opposite] }
        case "peer:" where words.count == 2: packet?.peer = Int(words[1])
        case "timestamp:" where words.count == 2: packet?.time = Self.nanoseconds(words[1])
        case "data:": text = []
        default: break
        }
        return part
    }

    /// Handles the end of the output.
    ///
    /// - Returns: the last part, if any.
    package mutating func finish() -> Part? {
        defer { text = nil }
        guard let text, let packet, let side = packet.peer.flatMap({ sides[$0] }),
            case .bytes(let bytes) = Base64.decode(text), !bytes.isEmpty
        else { return nil }
        return Part(side: side, frame: packet.frame, time: packet.time, bytes: bytes)
    }

    /// Parses seconds with a decimal point, such as `1795580897.296013117`.
    static func nanoseconds(_ text: some StringProtocol) -> UInt64? {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let seconds = parts.first.flatMap({ UInt64($0) }) else { return nil }
        var fraction = parts.count > 1 ? String(parts[1].prefix(9)) : ""
        while fraction.utf8.count < 9 { fraction += "0" }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow, let rest = UInt64(fraction) else { return nil }
        let (sum, isTooLarge) = whole.addingReportingOverflow(rest)
        return isTooLarge ? nil : sum
    }
}
