package import ProbeBase
import ProbeScenario

/// Creates a scenario that reproduces a recorded connection. The harness plays one side of the connection, or both
/// sides.
package struct RecordedScript: Sendable {
    /// The sides of the connection that the harness plays.
    package enum Role: String, Sendable, CaseIterable {
        case client, server, both
    }

    /// The options for creating a script.
    package struct Options: Sendable {
        package var role = Role.client
        /// The framing of the connection; `nil` if it should be detected.
        package var framing: Framing?
        /// Whether pauses are reproduced: the sender waits, and the receiver expects the pause.
        package var keepsTimes = false
        /// The address that the client connects to, in a script's notation.
        package var target = "127.0.0.1:1"
        /// The words of the command that starts the server, in which `{port}` stands for its port; `nil` if the server
        /// is running already.
        package var server: [String]?
        /// The address on which the server listens, in a script's notation; `nil` for a free port.
        package var listener: String?
        package var title = "recorded"
        /// The base name of payload files; a number is appended to it.
        package var name = "recorded"
        /// The maximum number of units. Further lines and messages are omitted, because a longer script is slow to
        /// load.
        package var maxUnits = 50_000
        /// The file names that must not be used for payloads.
        package var takenNames: Set<String> = []

        package init() {}
    }

    /// The reason why no script can be created from the recordings.
    package struct Obstacle: Error, Sendable, Equatable {
        package let text: String
        /// Whether no script can be created because the connection is encrypted.
        package var isTLS = false
    }

    private static let unreadable =
        "the connection uses TLS, so its data can't be read. Record from a capture instead, with the secrets that a program writes to the "
        + "file that SSLKEYLOGFILE names: run `tcpprobe proxy 7000 HOST:PORT --write capture.pcapng`, then `tcpprobe record --from capture.pcapng "
        + "--keylog FILE session.scn`"

    package private(set) var bytes: [UInt8] = []
    /// The payload files that the script refers to.
    package private(set) var files: [(name: String, bytes: [UInt8])] = []
    /// Notes for the user.
    package private(set) var notes: [String] = []
    /// Whether the end of the recording was omitted because a limit was reached.
    package private(set) var hasReachedLimit: Bool
    private let isCut: Bool
    private let hasTLS: Bool
    /// The sides that have signaled that they will send no more data.
    private var ended: Set<ConversationSide> = []
    /// The sides played by the harness that no longer receive data.
    private var closed: Set<ConversationSide> = []

    private let options: Options
    private let framing: Framing
    private var lines: [String] = []
    private var patterns: RecordedPatterns

    /// The maximum length of a payload in the script, in bytes. A longer payload is written to a file.
    private static let longestLiteral = 1024

    /// Creates a script from recordings.
    ///
    /// - Parameter conversations: one recording, or two recordings of the same exchange, whose differences become
    ///   patterns.
    package init(_ conversations: [RecordedConversation], _ options: Options) throws(Obstacle) {
        self.options = options
        guard let first = conversations.first, !first.isEmpty else {
            throw Obstacle(text: "no data was sent on the connection")
        }
        if conversations.contains(where: { $0.firstTLSTurn != nil }) {
            throw Obstacle(text: Self.unreadable, isTLS: true)
        }
        hasTLS = first.handshake != nil
        framing = options.framing ?? RecordedUnit.framing(of: first)
        let all = conversations.map { [framing] in RecordedUnit.of($0, framing, limit: options.maxUnits + 1) }
        let units = all.map { Array($0.prefix(options.maxUnits)) }
        let isLong = all.contains { $0.count > options.maxUnits }
        isCut = isLong || conversations.contains(where: \.isCut)
        hasReachedLimit = isLong || conversations.contains(where: \.hasReachedLimit)
        if isLong {
            notes.append(
                "the scenario ends after \(options.maxUnits) lines and messages, the maximum; use `--framing none` "
                    + "to record everything that one side sends in a turn as one step"
            )
        }
        patterns = try RecordedPatterns(units, own: Self.sides(of: options.role), areCut: isCut)
        write(patterns.units)
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        guard case .formatted(let formatted) = ScenarioFormatter.format(path: "recorded.scn", bytes: text) else {
            throw Obstacle(text: "the recording can't be expressed in the language: this is a bug in tcpprobe")
        }
        if first.handshake?.hasClientCertificate ?? false, options.role == .client {
            notes.append(
                "the client presented a certificate: if the server requests one, add `cert \"FILE\" key \"FILE\"` after `tls`"
            )
        }
        let files = files
        let compiled = ScenarioCompiler.compile(path: "recorded.scn", bytes: formatted, allowing: nil) {
            (file: ScriptFile) throws(LoadError) in
            guard let found = files.first(where: { $0.name == file.path }) else { throw .notFound }
            return found.bytes
        }
        if compiled.plan == nil, let problem = compiled.diagnostics.first(where: { $0.severity == .error }) {
            throw Obstacle(text: "the recording can't be converted to a valid scenario: \(problem.text)")
        }
        bytes = formatted
    }

    private var ownSides: [ConversationSide] { Self.sides(of: options.role) }

    private static func sides(of role: Role) -> [ConversationSide] {
        switch role {
        case .client: [.client]
        case .server: [.server]
        case .both: [.client, .server]
        }
    }

    private static func actor(_ side: ConversationSide) -> String { side == .client ? "C" : "S" }

    private mutating func write(_ units: [RecordedUnit]) {
        lines = ["scenario \"\(Escaped.bytes(Array(options.title.utf8)).replacing("${", with: "$ {"))\""]
        if framing != .crlf, units.contains(where: { $0.kind == .line }) { lines.append("framing \(framing.rawValue)") }
        if options.role != .both { lines.append("timeout 30s") }
        lines.append("")
        var rest = units[...]
        var tls: RecordedConversation.Handshake?
        if case .tls(let handshake)? = rest.first?.kind {
            tls = handshake
            rest.removeFirst()
        }
        let (clientTLS, serverTLS) = (
            tls.map { " " + Self.clientOptions($0) } ?? "", tls.map { " " + Self.serverOptions($0) } ?? ""
        )
        let listener = options.listener.map { " on \($0)" } ?? ""
        switch options.role {
        case .client:
            let server = options.server
            if let server { lines.append("process S = \(CommandScenario.command(server, port: "S.port"))") }
            lines += ["client C -> \(server == nil ? options.target : "S")\(clientTLS)", ""]
            if server != nil { lines += ["S start", "S expect listening"] }
            lines.append("C connect")
        case .server: lines += ["server S\(listener)\(serverTLS)", "", "S accept"]
        case .both: lines += ["server S\(serverTLS)", "client C -> S\(clientTLS)", "", "C connect", "S accept"]
        }
        var last = rest.first?.time ?? .zero
        for (index, unit) in zip(rest.indices, rest) {
            // The connection no longer exists after a reset by the harness.
            if case .reset? = index > rest.startIndex ? rest[index - 1].kind : nil,
                ownSides.contains(rest[index - 1].side)
            {
                break
            }
            let following = rest[(index + 1)...]
            write(unit, number: index, after: unit.begins || unit.isEnd ? unit.time - last : .zero, following)
            last = unit.time
        }
        if isCut {
            lines.append("# The recording was cut here.")
            for side in ownSides where !closed.contains(side) { lines.append("\(Self.actor(side)) ignore rest") }
        }
    }

    // MARK: Steps

    private mutating func write(
        _ unit: RecordedUnit, number: Int, after pause: Duration, _ rest: ArraySlice<RecordedUnit>
    ) {
        let (own, other) = (Self.actor(unit.side), Self.actor(unit.side.opposite))
        let isSent = ownSides.contains(unit.side)
        let isReceived = ownSides.contains(unit.side.opposite) && !closed.contains(unit.side.opposite)
        let pause = options.keepsTimes ? Self.rounded(pause) : nil
        if isSent, let pause { lines.append("wait \(DurationText.script(pause))") }
        switch unit.kind {
        case .line, .bytes:
            let word = StreamStatements.word(unit.kind == .line ? framing.unit : nil)
            if isSent {
                lines.append("\(own) send \(word)\(value(patterns.sent(number), unit, number))")
            }
            if isReceived {
                let after = isSent ? nil : pause.map { Self.rounded($0 / 2) ?? .milliseconds(10) }
                let clause = after.map { " after \(DurationText.script($0))" } ?? ""
                lines.append("\(other) expect \(word)\(expected(unit, number))\(clause)")
            }
        case .tls(let handshake): writeTLS(handshake)
        case .fin, .truncated, .notify, .reset, .alert:
            // If the side's close_notify was already written together with a FIN, the later FIN needs no statement.
            let isKnown = ended.contains(unit.side) && unit.kind == .fin
            if isSent, !isKnown { lines.append("\(own) \(end(of: unit, rest))") }
            if isReceived, !(isSent && isKnown) { lines.append("\(other) expect \(expectedEnd(unit, isSent: isSent))") }
            if unit.isEnd { ended.insert(unit.side) }
        }
    }

    /// Returns the statement for the end of a side's stream, such as `close` or `half-close`. Without TLS, `close` is
    /// used only if nothing arrives from the other side afterwards.
    private mutating func end(of unit: RecordedUnit, _ rest: ArraySlice<RecordedUnit>) -> String {
        let others = rest.filter { $0.side == unit.side.opposite }
        switch unit.kind {
        case .alert(let alert): return "send alert fatal \(alert)"
        case .reset:
            closed.insert(unit.side)
            return "reset"
        case .fin, .truncated, .notify:
            // With TLS, timing determines which event the other side sees first, and whether that side still reads.
            guard hasTLS, !isCut, others.allSatisfy(\.isEnd) else { break }
            closed.insert(unit.side)
            return unit.kind == .truncated ? "close without notify" : "close"
        case .line, .bytes, .tls: break
        }
        return others.isEmpty && !isCut ? "close" : "half-close"
    }

    /// Returns the expected end of the connection. With TLS, the way in which a side ends its stream after the other
    /// side has done so depends on timing.
    private func expectedEnd(_ unit: RecordedUnit, isSent: Bool) -> String {
        if unit.isUncertain || hasTLS && ended.contains(unit.side.opposite) { return "closed" }
        switch unit.kind {
        case .truncated: return "truncated"
        case .notify: return isSent ? "eof" : "notify"
        case .reset: return "reset"
        case .alert(let alert): return "alert \(alert)"
        default: return "eof"
        }
    }

    // MARK: TLS

    /// Adds the steps that start TLS on an established connection.
    private mutating func writeTLS(_ handshake: RecordedConversation.Handshake) {
        let client = "C start " + Self.clientOptions(handshake)
        let server = "S start " + Self.serverOptions(handshake)
        switch options.role {
        case .client: lines.append(client)
        case .server: lines.append(server)
        case .both: lines += ["together {", client, server, "}"]
        }
    }

    private static func clientOptions(_ handshake: RecordedConversation.Handshake) -> String {
        var text = "tls"
        if let name = handshake.serverName { text += " name \(StreamStatements.literal(Array(name.utf8)))" }
        if !handshake.offeredProtocols.isEmpty {
            text += " alpn" + handshake.offeredProtocols.map { " " + StreamStatements.literal(Array($0.utf8)) }.joined()
        }
        return text
    }

    /// Returns the options of a server that chooses the same application protocol as in the recording.
    private static func serverOptions(_ handshake: RecordedConversation.Handshake) -> String {
        handshake.chosenProtocol.map { "tls alpn \(StreamStatements.literal(Array($0.utf8)))" } ?? "tls"
    }

    // MARK: Values

    private mutating func expected(_ unit: RecordedUnit, _ number: Int) -> String {
        switch patterns.received(number) {
        case .same, .withVariables: value(patterns.received(number), unit, number)
        case .pattern(let regex): "/\(regex)/"
        case .anything(let name): unit.kind == .line ? "as \(name)" : "\(unit.bytes.count) bytes as \(name)"
        }
    }

    private mutating func value(_ text: RecordedPatterns.Text, _ unit: RecordedUnit, _ number: Int) -> String {
        if case .withVariables(let text) = text { return "\"\(text)\"" }
        if unit.bytes.count <= Self.longestLiteral { return StreamStatements.literal(unit.bytes) }
        if let known = files.first(where: { $0.bytes == unit.bytes }) {
            return "file(\(StreamStatements.literal(Array(known.name.utf8))))"
        }
        var number =
            files.last.flatMap { file in file.name.split(separator: ".").dropLast().last.flatMap { Int($0) } } ?? 0
        repeat { number += 1 } while options.takenNames.contains("\(options.name).\(number).bin")
        let name = "\(options.name).\(number).bin"
        files.append((name, unit.bytes))
        return "file(\(StreamStatements.literal(Array(name.utf8))))"
    }

    /// Returns the duration of a pause, rounded down to 10 ms; `nil` if the pause is shorter than 20 ms.
    private static func rounded(_ pause: Duration) -> Duration? {
        let count = pause.nanoseconds / 10_000_000
        return count >= 2 ? .milliseconds(count * 10) : nil
    }
}
