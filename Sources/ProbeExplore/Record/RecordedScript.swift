package import ProbeBase
import ProbeScenario

/// The scenario of what was said on a connection, with the harness at one end or at both.
package struct RecordedScript: Sendable {
    /// Who the harness plays.
    package enum Role: String, Sendable, CaseIterable {
        case client, server, both
    }

    /// What a script is made with.
    package struct Options: Sendable {
        package var role = Role.client
        /// nil: found out.
        package var framing: Framing?
        /// Whether pauses are waited for, and expected.
        package var keepsTimes = false
        /// Where the client connects to, as a script says it.
        package var target = "127.0.0.1:1"
        /// Where the server listens; nil: on a free port.
        package var listener: String?
        package var title = "recorded"
        /// Files with payloads have this name and a number.
        package var name = "recorded"

        package init() {}
    }

    /// Why there is no script of the recordings.
    package struct Obstacle: Error, Sendable, Equatable {
        package let text: String
    }

    package private(set) var bytes: [UInt8] = []
    /// Payloads beside the script.
    package private(set) var files: [(name: String, bytes: [UInt8])] = []
    /// What the user has to know.
    package private(set) var notes: [String] = []

    private let options: Options
    private let framing: Framing
    private var lines: [String] = []
    private var patterns: RecordedPatterns

    /// Longer payloads go into files.
    private static let longestLiteral = 1024

    /// - Parameter conversations: one, or two of the same exchange: what differs becomes a pattern.
    package init(_ conversations: [RecordedConversation], _ options: Options) throws(Obstacle) {
        self.options = options
        guard let first = conversations.first, !first.isEmpty else {
            throw Obstacle(text: "nothing was said on the connection")
        }
        if conversations.contains(where: \.isTLS) {
            throw Obstacle(
                text:
                    "the connection speaks TLS: what was said can't be read. Record it without TLS, or behind what ends TLS"
            )
        }
        framing = options.framing ?? RecordedUnit.framing(of: first)
        let units = conversations.map { [framing] in RecordedUnit.of($0, framing) }
        patterns = try RecordedPatterns(units, own: Self.sides(of: options.role))
        write(units[0])
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        guard case .formatted(let formatted) = ScenarioFormatter.format(path: "recorded.scn", bytes: text) else {
            throw Obstacle(text: "what was recorded can't be said in the language: this is a bug of tcpprobe")
        }
        let files = files
        let compiled = ScenarioCompiler.compile(path: "recorded.scn", bytes: formatted, allowing: nil) {
            (file: ScriptFile) throws(LoadError) in
            guard let found = files.first(where: { $0.name == file.path }) else { throw .notFound }
            return found.bytes
        }
        if compiled.plan == nil, let problem = compiled.diagnostics.first(where: { $0.severity == .error }) {
            throw Obstacle(text: "what was recorded makes no right scenario: \(problem.text)")
        }
        bytes = formatted
    }

    private var ownSides: [RecordedConversation.Side] { Self.sides(of: options.role) }

    private static func sides(of role: Role) -> [RecordedConversation.Side] {
        switch role {
        case .client: [.client]
        case .server: [.server]
        case .both: [.client, .server]
        }
    }

    private static func actor(_ side: RecordedConversation.Side) -> String { side == .client ? "C" : "S" }

    private mutating func write(_ units: [RecordedUnit]) {
        lines = ["scenario \"\(Escaped.bytes(Array(options.title.utf8)).replacing("${", with: "$ {"))\""]
        if framing != .crlf, units.contains(where: { $0.kind == .line }) { lines.append("framing \(framing.rawValue)") }
        if options.role != .both { lines.append("timeout 30s") }
        lines.append("")
        switch options.role {
        case .client: lines += ["client C -> \(options.target)", "", "C connect"]
        case .server: lines += ["server S" + (options.listener.map { " on \($0)" } ?? ""), "", "S accept"]
        case .both: lines += ["server S", "client C -> S", "", "C connect", "S accept"]
        }
        var last = units.first?.time ?? .zero
        for (index, unit) in units.enumerated() {
            let rest = units[(index + 1)...]
            write(unit, number: index, after: unit.begins || unit.kind == .fin ? unit.time - last : .zero, rest)
            last = unit.time
        }
    }

    // MARK: Steps

    private mutating func write(
        _ unit: RecordedUnit, number: Int, after pause: Duration, _ rest: ArraySlice<RecordedUnit>
    ) {
        let (own, other) = (Self.actor(unit.side), Self.actor(unit.side.opposite))
        let isSent = ownSides.contains(unit.side)
        let isReceived = ownSides.contains(unit.side.opposite)
        let pause = options.keepsTimes ? Self.rounded(pause) : nil
        if isSent, let pause { lines.append("wait \(DurationText.script(pause))") }
        switch unit.kind {
        case .line, .bytes:
            let word = unit.kind == .line ? (framing.prefix == nil && framing != .netstring ? "line " : "message ") : ""
            if isSent {
                lines.append("\(own) send \(word)\(value(patterns.sent(number), unit, number))")
            }
            if isReceived {
                let after = isSent ? nil : pause.map { Self.rounded($0 / 2) ?? .milliseconds(10) }
                let clause = after.map { " after \(DurationText.script($0))" } ?? ""
                lines.append("\(other) expect \(word)\(expected(unit, number))\(clause)")
            }
        case .fin:
            if isSent { lines.append("\(own) \(end(of: unit, rest))") }
            if isReceived { lines.append("\(other) expect eof") }
        case .reset:
            if isSent { lines.append("\(own) reset") }
            if isReceived { lines.append("\(other) expect reset") }
        }
    }

    /// `close` where nothing comes from the other side any more.
    private func end(of unit: RecordedUnit, _ rest: ArraySlice<RecordedUnit>) -> String {
        rest.contains { $0.side == unit.side.opposite } ? "half-close" : "close"
    }

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
        let name = "\(options.name).\(files.count + 1).bin"
        files.append((name, unit.bytes))
        return "file(\(StreamStatements.literal(Array(name.utf8))))"
    }

    /// To 10 ms; nil where it is shorter than 20 ms.
    private static func rounded(_ pause: Duration) -> Duration? {
        let count = pause.nanoseconds / 10_000_000
        return count >= 2 ? .milliseconds(count * 10) : nil
    }
}
