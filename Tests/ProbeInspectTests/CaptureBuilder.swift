import ProbeBase
import ProbeWire

/// Builds captures of one or more connections packet by packet, in the format that a run on loopback writes.
struct CaptureBuilder {
    /// The two ends of one connection and the number of bytes that each has sent.
    struct Connection {
        var client: UInt16
        var server: UInt16
        /// The sequence number of the first byte of the client's stream.
        var clientBase: UInt32 = 1_001
        var serverBase: UInt32 = 5_001
        var clientSent: UInt32 = 0
        var serverSent: UInt32 = 0
        /// The last byte of the client's address, 127.0.0.x.
        var host: UInt8 = 1
    }

    enum Side { case client, server }

    private let writer = PcapNGWriter(
        interface: .init(name: "lo", linkType: .ethernet, snapLength: 262_144))
    private(set) var bytes: [UInt8]
    var time: UInt64 = 1_700_000_000_000_000_000
    /// The window that packets advertise, unless another one is given.
    var window: UInt16 = 512

    init() {
        bytes = writer.header(application: "tests", system: "tests")
    }

    mutating func wait(milliseconds: UInt64) { time += milliseconds * 1_000_000 }

    /// Adds a packet. `skew` is added to its sequence number, and `cut` is the number of bytes at the packet's end that
    /// are not captured. The length of `options` must be a multiple of four.
    mutating func packet(
        _ connection: Connection, _ side: Side, flags: UInt8, payload: [UInt8] = [], skew: Int32 = 0, cut: Int = 0,
        window: UInt16? = nil, comments: [String] = [], options: [UInt8] = [], hopLimit: UInt8 = 64,
        identification: UInt16 = 1
    ) {
        let isClient = side == .client
        let own =
            isClient ? connection.clientBase &+ connection.clientSent : connection.serverBase &+ connection.serverSent
        let peer =
            isClient ? connection.serverBase &+ connection.serverSent : connection.clientBase &+ connection.clientSent
        let sequence = UInt32(truncatingIfNeeded: Int64(own) + Int64(skew))
        let ports = isClient ? [connection.client, connection.server] : [connection.server, connection.client]
        var tcp = ports.flatMap(Self.big16)
        tcp += Self.big32(sequence) + Self.big32(flags & 0x10 == 0 ? 0 : peer)
        tcp +=
            [UInt8(0x50 + options.count / 4 * 16), flags] + Self.big16(window ?? self.window) + [0, 0, 0, 0] + options
            + payload
        let hosts = isClient ? [connection.host, 1] : [1, connection.host]
        var ip: [UInt8] = [0x45, 0] + Self.big16(UInt16(20 + tcp.count)) + Self.big16(identification)
        ip += [0, 0, hopLimit, 6, 0, 0, 127, 0, 0, hosts[0], 127, 0, 0, hosts[1]]
        let frame = [UInt8](repeating: 0, count: 12) + [8, 0] + ip + tcp
        bytes += writer.packet(
            CapturedPacket(time: time, originalLength: frame.count, bytes: Array(frame.dropLast(cut))),
            comments: comments)
        time += 10_000
    }

    /// Adds an ICMP error that the router 10.0.0.9 sends about a packet from one side.
    mutating func icmp(
        about connection: Connection, _ side: Side, type: UInt8, code: UInt8, value: UInt16 = 0, skew: Int32 = 0
    ) {
        let isClient = side == .client
        let own =
            isClient ? connection.clientBase &+ connection.clientSent : connection.serverBase &+ connection.serverSent
        let ports = isClient ? [connection.client, connection.server] : [connection.server, connection.client]
        var quote: [UInt8] = [0x45, 0, 0, 40, 0, 1, 0, 0, 1, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
        quote += ports.flatMap(Self.big16) + Self.big32(UInt32(truncatingIfNeeded: Int64(own) + Int64(skew)))
        let message = [type, code, 0, 0, 0, 0] + Self.big16(value) + quote
        let ip: [UInt8] =
            [0x45, 0] + Self.big16(UInt16(20 + message.count)) + [0, 1, 0, 0, 64, 1, 0, 0, 10, 0, 0, 9, 127, 0, 0, 1]
        let frame = [UInt8](repeating: 0, count: 12) + [8, 0] + ip + message
        bytes += writer.packet(CapturedPacket(time: time, originalLength: frame.count, bytes: frame), comments: [])
        time += 10_000
    }

    /// Adds the packets of a handshake: SYN, SYN-ACK and ACK.
    mutating func open(_ connection: Connection) {
        packet(connection, .client, flags: 0x02, skew: -1)
        packet(connection, .server, flags: 0x12, skew: -1)
        packet(connection, .client, flags: 0x10)
    }

    mutating func send(_ connection: inout Connection, _ side: Side, _ text: String, comments: [String] = []) {
        send(&connection, side, bytes: Array(text.utf8), comments: comments)
    }

    mutating func send(
        _ connection: inout Connection, _ side: Side, bytes payload: [UInt8], cut: Int = 0, comments: [String] = []
    ) {
        packet(connection, side, flags: 0x18, payload: payload, cut: cut, comments: comments)
        if side == .client {
            connection.clientSent += UInt32(payload.count)
        } else {
            connection.serverSent += UInt32(payload.count)
        }
    }

    /// Counts bytes as sent without adding a packet for them.
    mutating func lose(_ connection: inout Connection, _ side: Side, _ count: UInt32) {
        if side == .client { connection.clientSent += count } else { connection.serverSent += count }
    }

    /// Adds the packets of a graceful close: the server's FIN, the client's FIN and the last ACK.
    mutating func close(_ connection: inout Connection) {
        end(&connection, .server)
        end(&connection, .client)
        packet(connection, .server, flags: 0x10)
    }

    /// Adds a FIN.
    mutating func end(_ connection: inout Connection, _ side: Side) {
        packet(connection, side, flags: 0x11)
        lose(&connection, side, 1)
    }

    /// Adds a request that fills the server's window, and probes that the server answers with a closed window.
    mutating func stopReading(_ connection: inout Connection) {
        send(&connection, .client, bytes: [UInt8](repeating: 0x61, count: 512))
        packet(connection, .server, flags: 0x10, window: 0)
        for _ in 0..<5 {
            wait(milliseconds: 400)
            packet(connection, .client, flags: 0x10, skew: -1)
            packet(connection, .server, flags: 0x10, window: 0)
        }
    }

    mutating func drop(_ count: UInt64) {
        bytes += writer.statistics(.init(start: time, end: time, received: 10, dropped: count))
    }

    private static func big16(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    private static func big32(_ value: UInt32) -> [UInt8] {
        big16(UInt16(value >> 16)) + big16(UInt16(truncatingIfNeeded: value))
    }

    /// A capture with a reply that is split into two segments inside its CRLF, a command, and a graceful close.
    static let greeting: [UInt8] = {
        var capture = CaptureBuilder()
        var connection = Connection(client: 40_000, server: 25)
        capture.open(connection)
        capture.send(&connection, .server, "220 rea", comments: ["crlf.scn:11 S send \"220 rea\""])
        capture.wait(milliseconds: 30)
        capture.send(&connection, .server, "dy\r")
        capture.wait(milliseconds: 30)
        capture.send(&connection, .server, "\n")
        capture.send(&connection, .client, "QUIT\r\n")
        capture.close(&connection)
        return capture.bytes
    }()

    /// A capture with 79 bytes from the client, of which only 30 were captured because of the snap length.
    static let snapped: [UInt8] = {
        var capture = CaptureBuilder()
        var connection = Connection(client: 40_000, server: 25)
        capture.open(connection)
        capture.send(&connection, .client, bytes: [UInt8](repeating: 0x78, count: 59), cut: 39)
        capture.send(&connection, .client, bytes: [UInt8](repeating: 0x79, count: 20), cut: 10)
        return capture.bytes
    }()

    /// A capture with two connections. The first connection has a bare LF, escape sequences and a gap of five bytes;
    /// the second connection is refused.
    static let troubled: [UInt8] = {
        var capture = CaptureBuilder()
        var first = Connection(client: 40_001, server: 80)
        capture.open(first)
        capture.send(&first, .client, "GET \u{1b}[31m\n", comments: ["evil \u{1b}[2J\u{202e}comment"])
        capture.packet(first, .client, flags: 0x18, payload: Array("GET \u{1b}[31m\n".utf8), skew: -10)
        capture.lose(&first, .client, 5)
        capture.send(&first, .client, "tail\r\n")
        capture.packet(first, .server, flags: 0x04)
        let second = Connection(client: 40_002, server: 81)
        capture.packet(second, .client, flags: 0x02, skew: -1)
        capture.packet(second, .server, flags: 0x14, skew: -1)
        return capture.bytes
    }()
}
