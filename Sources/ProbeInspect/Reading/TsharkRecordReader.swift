package import ProbeBase
import ProbeWire

/// Parses the output of tshark with the options ``arguments`` for the TLS records of a connection. The output has one
/// line per frame. The parser finds the names in the handshake and the alerts, and determines whether everything was
/// decrypted. Never traps on any input.
package struct TsharkRecordReader {
    package struct Alert: Sendable, Equatable {
        package var side: ConversationSide
        /// The number of the frame, counting from 1.
        package var frame: Int
        /// The time in nanoseconds since 1970; `nil` if tshark does not report it.
        package var time: UInt64?
        /// The number of the alert. The number 0 is close_notify.
        package var number: UInt8

        package init(side: ConversationSide, frame: Int, time: UInt64?, number: UInt8) {
            (self.side, self.frame, self.time, self.number) = (side, frame, time, number)
        }
    }

    /// The tshark options that produce the output.
    package static let arguments =
        ["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,"] + fields.flatMap { ["-e", $0] }

    private static let fields = [
        "frame.number", "frame.time_epoch", "tcp.srcport", "ip.src", "ipv6.src", "tls.handshake.type",
        "tls.handshake.extensions_server_name", "tls.handshake.extensions_alpn_str", "tls.alert_message.desc",
        "tls.record.content_type", "tls.record.opaque_type", "tls.record.length",
    ]

    private let client: SocketEndpoint
    private let server: SocketEndpoint

    /// The server name in the first ClientHello.
    package private(set) var serverName: String?
    package private(set) var offeredProtocols: [String] = []
    package private(set) var chosenProtocol: String?
    /// Whether the client has authenticated with a certificate.
    package private(set) var hasClientCertificate = false
    package private(set) var alerts: [Alert] = []
    /// The sides whose Finished message was decrypted, which shows that the secrets are correct.
    package private(set) var finished: Set<ConversationSide> = []
    /// The sides that sent application data records. Determined only for TLS 1.2.
    package private(set) var senders: Set<ConversationSide> = []
    /// The number of the first frame with a record that was not decrypted. Determined only for TLS 1.3.
    package private(set) var undecrypted: Int?
    private var hasSeenHello = false

    package init(client: SocketEndpoint, server: SocketEndpoint) {
        self.client = client
        self.server = server
    }

    package mutating func read(_ line: [UInt8]) {
        let cells = line.split(separator: 0x09, omittingEmptySubsequences: false).map { cell in
            String(decoding: cell, as: UTF8.self)
        }
        guard cells.count == Self.fields.count, let frame = Int(cells[0]) else { return }
        func list(_ cell: Int) -> [String] { cells[cell].split(separator: ",").map(String.init) }
        func numbers(_ cell: Int) -> [Int] { list(cell).compactMap(Self.number) }
        guard let port = list(2).last.flatMap({ UInt16($0) }),
            let side = TsharkFollowReader.side(
                host: list(3).last ?? list(4).last ?? "", port: port, client: client, server: server)
        else { return }
        let time = TsharkDataReader.nanoseconds(cells[1])
        readHandshake(numbers(5), from: side, names: list(6), protocols: list(7))
        for number in numbers(8) {
            alerts.append(Alert(side: side, frame: frame, time: time, number: UInt8(truncatingIfNeeded: number)))
        }
        let (types, opaque, lengths) = (numbers(9), list(10), list(11))
        // tshark reports two types for a decrypted record: the type in its header and the inner type.
        if !opaque.isEmpty, types.count < lengths.count, undecrypted == nil { undecrypted = frame }
        if opaque.isEmpty, types.contains(23) { senders.insert(side) }
    }

    private mutating func readHandshake(
        _ types: [Int], from side: ConversationSide, names: [String], protocols: [String]
    ) {
        if types.contains(1), side == .client, !hasSeenHello {
            hasSeenHello = true
            // The reserved values that browsers add to the list of protocols (GREASE, RFC 8701) are excluded, because
            // they are not text.
            (serverName, offeredProtocols) = (names.first, protocols.filter(Self.isText))
        }
        // The chosen protocol is in the ServerHello, or in the EncryptedExtensions in TLS 1.3.
        if types.contains(2) || types.contains(8), side == .server, let name = protocols.first { chosenProtocol = name }
        // The handshake message of type 15 is CertificateVerify.
        if types.contains(15), side == .client { hasClientCertificate = true }
        if types.contains(20) { finished.insert(side) }
    }

    private static func isText(_ name: String) -> Bool {
        name.utf8.allSatisfy { (33..<127).contains($0) && $0 != UInt8(ascii: "\\") }
    }

    /// Parses a decimal number, or a hexadecimal number such as `0x17`.
    private static func number(_ text: String) -> Int? {
        text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }
}
