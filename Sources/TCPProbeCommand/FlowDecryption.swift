import ArgumentParser
import ProbeBase
import ProbeExplore
import ProbeInspect
import ProbeSystem
import ProbeWire

/// Decrypts a flow's TLS data with tshark.
struct FlowDecryption {
    let path: String
    let flow: Int
    let keyLog: String?
    /// Whether the capture is a regular file, which can be read again.
    let isRegular: Bool
    let client: SocketEndpoint
    let server: SocketEndpoint

    private static let largestKeyLog = 64 << 20

    /// Returns the conversation, with the plaintext before TLS and the decrypted data.
    ///
    /// - Parameter keysInCapture: the key log lines contained in the capture itself.
    /// - Throws: the exit code, after printing the reason.
    func decrypted(_ recorder: FlowRecorder, keysInCapture: [UInt8], limit: Int) throws -> RecordedConversation {
        guard let first = recorder.conversation.firstTLSTurn else { return recorder.conversation }
        guard let tshark = Tshark() else {
            throw fail("the flow uses TLS, and decrypting it \(Tshark.advice)")
        }
        if !isRegular {
            throw fail(
                "the flow uses TLS: to decrypt it, the capture must be a file that can be read more than once, not a pipe"
            )
        }
        try requireSecrets(of: recorder.conversation, keysInCapture: keysInCapture)
        let arguments = Tshark.arguments(path, keyLog: keyLog)
        guard let stream = tshark.stream(ofFrame: recorder.firstFrame, arguments) else {
            throw fail("the flow uses TLS, but tshark can't read the file")
        }
        // If the first record is split across segments, tshark detects TLS only with an option that names the port.
        let ways = [[], ["-d", "tcp.port==\(server.port),tls"]]
        var parts: [TsharkDataReader.Part] = []
        var records = TsharkRecordReader(client: client, server: server)
        for way in ways where parts.isEmpty {
            parts = try data(of: stream, by: tshark, arguments + way, limit: limit)
            records = TsharkRecordReader(client: client, server: server)
            let status = tshark.run(
                arguments + way + ["-Y", "tcp.stream == \(stream) && tls"] + TsharkRecordReader.arguments
            ) { records.read($0) }
            guard status == 0 else { throw fail("tshark failed") }
        }
        try requireWhole(records, parts)
        var conversation = RecordedConversation(limit: limit)
        for turn in recorder.conversation.turns[..<first] {
            conversation.add(turn.event, from: turn.side, at: turn.time)
        }
        let handshake = RecordedConversation.Handshake(
            serverName: records.serverName, offeredProtocols: records.offeredProtocols,
            chosenProtocol: records.chosenProtocol, hasClientCertificate: records.hasClientCertificate)
        conversation.add(.tls(handshake), from: .client, at: recorder.conversation.turns[first].time)
        add(parts, records.alerts, recorder, to: &conversation)
        return conversation
    }

    /// Returns the decrypted data. Reading stops when slightly more than the limit has been read.
    private func data(
        of stream: Int, by tshark: Tshark, _ arguments: [String], limit: Int
    ) throws -> [TsharkDataReader.Part] {
        var reader = TsharkDataReader(client: client, server: server)
        var (parts, size): ([TsharkDataReader.Part], Int) = ([], 0)
        func keep(_ part: TsharkDataReader.Part?) {
            guard let part, size <= limit else { return }
            parts.append(part)
            size += part.bytes.count
        }
        let status = tshark.run(arguments + ["-q", "-z", "follow,tls,yaml,\(stream)"]) { keep(reader.read($0)) }
        keep(reader.finish())
        guard status == 0 else {
            throw fail("tshark failed; Wireshark 3.6 or later is required")
        }
        return parts
    }

    // MARK: Obstacles to decryption

    private func requireSecrets(of conversation: RecordedConversation, keysInCapture: [UInt8]) throws {
        var keys = keysInCapture
        if let keyLog {
            let name = "--keylog \(Escaped.text(keyLog))"
            guard let status = FileStatus(at: keyLog) else { throw Failure.invalidUsage("\(name): no such file") }
            guard status.isRegular else {
                throw Failure.invalidUsage("\(name): expected a regular file, which can be read more than once")
            }
            do throws(SystemError) {
                keys += [0x0a] + (try SmallFile.contents(of: keyLog, limit: Self.largestKeyLog))
            } catch {
                throw Failure.invalidUsage("\(name): can't read the file: \(error.reason)")
            }
        }
        let lines = keys.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).filter(Self.isSecret)
        let advice =
            "use `--keylog FILE` with a key log that the client or the server wrote (SSLKEYLOGFILE); a run's captures contain the secrets unless `--no-secrets` was given"
        if lines.isEmpty {
            let place =
                keyLog.map { "neither the capture nor \(Escaped.text($0)) contains" } ?? "the capture contains no"
            throw fail("the flow uses TLS, but \(place) TLS secrets: \(advice)")
        }
        // The client random does not identify the secrets of an RSA key exchange.
        guard let random = conversation.clientRandom, !lines.contains(where: { $0.starts(with: Array("RSA ".utf8)) })
        else { return }
        let wanted = Array(random.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8)
        let isThere = lines.contains { line in
            line.split(separator: 0x20).dropFirst().first.map { $0.map { $0 | 0x20 } == wanted.map { $0 | 0x20 } }
                ?? false
        }
        if !isThere {
            throw fail("the flow uses TLS, but the available secrets belong to other connections: \(advice)")
        }
    }

    /// Returns whether a line has the format of a secret in an NSS key log: a label, a random value and a secret.
    private static func isSecret(_ line: ArraySlice<UInt8>) -> Bool {
        let words = line.split(separator: 0x20)
        return words.count == 3 && line.first != 0x23
            && words[1...].allSatisfy { $0.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } }
    }

    private func requireWhole(_ records: TsharkRecordReader, _ parts: [TsharkDataReader.Part]) throws {
        if let alert = records.alerts.first(where: { $0.number != 0 }), records.finished.count < 2 {
            throw fail(
                "the TLS handshake failed with alert \(alert.number) from the \(alert.side == .client ? "client" : "server"), so no data was exchanged"
            )
        }
        if records.finished.count < 2 {
            throw fail(
                "the TLS handshake could not be decrypted: the secrets don't match, the file contains them after the packets, or the capture does not contain the whole handshake"
            )
        }
        let sides = Set(parts.map(\.side))
        if let frame = records.undecrypted {
            throw fail(
                "packet \(frame) could not be decrypted: secrets are missing (a TLS 1.3 key log has five secrets per connection)"
            )
        }
        if let side = ConversationSide.allCases.first(where: { records.senders.contains($0) && !sides.contains($0) }) {
            throw fail("the data from the \(side == .client ? "client" : "server") could not be decrypted")
        }
    }

    private func fail(_ text: String) -> ExitCode {
        Failure.invalidUsage("\(Escaped.text(path)): flow \(flow): \(text)")
    }

    // MARK: Packet order

    /// Adds data, close_notify and FIN in the order of their packets. If an end was captured before the data that
    /// precedes it, because the network reordered the packets, the end is added after the data.
    private func add(
        _ parts: [TsharkDataReader.Part], _ alerts: [TsharkRecordReader.Alert], _ recorder: FlowRecorder,
        to conversation: inout RecordedConversation
    ) {
        typealias Entry = (
            frame: Int, rank: Int, time: UInt64?, side: ConversationSide, event: RecordedConversation.Event
        )
        var entries: [Entry] = parts.map { ($0.frame, 0, $0.time, $0.side, .bytes($0.bytes)) }
        func hasSentData(_ side: ConversationSide, between start: Int, and end: Int) -> Bool {
            let frames =
                parts.filter { $0.side == side }.map(\.frame)
                + alerts.filter { $0.side == side }.map(\.frame)
                + recorder.ends.filter { $0.side == side }.map(\.frame)
            return frames.contains { $0 > start && $0 < end }
        }
        for side in ConversationSide.allCases {
            let lastData = entries.last { $0.rank == 0 && $0.side == side }?.frame ?? 0
            let own = alerts.filter { $0.side == side && $0.number != Self.userCanceled }
            let end = recorder.ends.first { $0.side == side }
            for alert in own where alert.number != 0 {
                entries.append((max(alert.frame, lastData), 1, alert.time, side, .alert(alert.number)))
            }
            let notify = own.first { $0.number == 0 }.map { ($0, max($0.frame, lastData)) }
            let fin = end.map { max($0.frame, lastData) }
            if let (alert, frame) = notify {
                // If the other side sent nothing between the close_notify and the FIN, the close_notify and the FIN are
                // recorded as a single end.
                let isOne = end?.event == .fin && !hasSentData(side.opposite, between: frame, and: fin ?? frame)
                entries.append((frame, 1, alert.time, side, isOne ? .fin : .notify))
                if isOne { continue }
            }
            if let end, let fin {
                let event: RecordedConversation.Event = end.event == .fin && notify == nil ? .truncated : end.event
                entries.append((fin, 2, end.time, side, event))
            }
        }
        var now = conversation.turns.last?.time ?? .zero
        // Entries that belong to the same packet keep their order.
        for (_, entry) in entries.enumerated().sorted(by: {
            ($0.element.frame, $0.element.rank, $0.offset) < ($1.element.frame, $1.element.rank, $1.offset)
        }) {
            now = max(now, entry.time.map(recorder.time(at:)) ?? now)
            conversation.add(entry.event, from: entry.side, at: now)
        }
    }

    /// The alert `user_canceled`, which only announces a close_notify (RFC 8446, section 6.1).
    private static let userCanceled: UInt8 = 90
}
