package import ProbeBase
import ProbeExplore
package import ProbeScenario

/// The scenario of a session: its header, and the steps that have been done.
package struct SessionScript: Sendable {
    /// Which end of the connection the session is.
    package enum End: Sendable {
        /// `target` is an address of the language, `options` what stands behind it: ` tls name "a.test"`.
        case client(target: String, options: String)
        case server(address: String, options: String)
    }

    package let end: End
    package let framing: Framing
    private var header: [String]
    /// Steps, and comments about those that failed.
    private var lines: [String] = []
    /// How many steps have been done.
    package private(set) var count = 0

    /// The name of the connection's own end.
    package var actor: String { if case .client = end { "C" } else { "S" } }
    package var kind: ActorKind { if case .client = end { .client } else { .server } }

    package init(_ end: End, framing: Framing, title: String) {
        (self.end, self.framing) = (end, framing)
        header = ["scenario \(StreamStatements.literal(Array(title.utf8)))"]
        if framing != .crlf { header.append("framing \(framing.rawValue)") }
        header.append("")
        switch end {
        case .client(let target, let options): header.append("client C -> \(target)\(options)")
        case .server(let address, let options): header.append("server S on \(address)\(options)")
        }
        header.append("")
    }

    /// What makes the connection.
    package var firstStep: String { if case .client = end { "C connect" } else { "S accept" } }

    /// The script before anything is done.
    package func beginning(allowing targets: AllowedTargets, loader: @escaping FileLoader) throws(Problem) -> Plan {
        // A scenario has steps: the first one is known.
        let script = Array((header + [firstStep, ""]).joined(separator: "\n").utf8)
        let result = ScenarioCompiler.compile(path: Self.path, bytes: script, allowing: targets, loader: loader)
        guard let plan = result.plan else { throw Problem(text: Self.text(of: result)) }
        return plan
    }

    // MARK: Steps

    /// A script with further steps, read and checked.
    package struct Extension: Sendable {
        package var plan: Plan
        /// The place of the first new step.
        package var first: Int
        fileprivate var text: String

        /// The names that its steps give to connections.
        package var acceptedNames: [String] {
            plan.scenario.steps[first...].compactMap { step in
                if case .act(_, .server(.accept(let name?, _, _)), _) = step.kind { name.value } else { nil }
            }
        }

        /// Somebody does something with a connection, rather than to look at it.
        package var acts: Bool {
            plan.scenario.steps[first...].contains { step in
                switch step.kind {
                case .act(_, .connection(.expect), _), .act(_, .server(.expect), _): false
                case .act: true
                default: false
                }
            }
        }
    }

    /// What is wrong with what was typed.
    package struct Problem: Error, Sendable {
        package var text: String
    }

    /// - Parameter text: one or more statements.
    package func extended(
        by text: String, allowing targets: AllowedTargets, loader: @escaping FileLoader
    ) throws(Problem) -> Extension {
        let before = lines.joined(separator: "\n")
        let script = Array((header + (lines.isEmpty ? [] : [before]) + [text, ""]).joined(separator: "\n").utf8)
        let result = ScenarioCompiler.compile(path: Self.path, bytes: script, allowing: targets, loader: loader)
        guard let plan = result.plan else {
            throw Problem(text: Self.text(of: result))
        }
        guard plan.scenario.steps.count > count else { throw Problem(text: "error: there is no step in it\n") }
        return Extension(plan: plan, first: count, text: text)
    }

    /// The steps have been done.
    package mutating func add(_ extended: Extension) {
        lines.append(extended.text)
        count = extended.plan.scenario.steps.count
    }

    /// A step that failed is told, and is no part of the scenario.
    package mutating func note(failureOf extended: Extension, _ reason: String) {
        lines += extended.text.split(separator: "\n", omittingEmptySubsequences: false).map { "# \($0)" }
        lines[lines.count - 1] += "   (\(Escaped.text(reason)))"
    }

    /// As messages name the script.
    private static let path = "session"

    /// Without the place: it is the line that was just typed.
    private static func text(of result: CompilationResult) -> String {
        let errors = result.diagnostics.filter { $0.severity == .error }
        guard let first = errors.first else { return "error: the step is not understood\n" }
        let renderer = DiagnosticRenderer(sources: result.sources)
        var text = "error: \(Escaped.text(first.text)) [\(first.id.rawValue)]\n" + renderer.excerpt(first.span)
        if let hint = first.hint { text += "  hint: \(Escaped.text(hint))\n" }
        return text
    }

    // MARK: Statements

    /// Sends what was typed as a line.
    package func statement(sending line: [UInt8]) -> String {
        let literal = StreamStatements.literal(line)
        return switch framing {
        case .none, .websocket: "\(actor) send \(literal)"
        case _ where framing.prefix != nil || framing == .netstring: "\(actor) send message \(literal)"
        default: "\(actor) send line \(literal)"
        }
    }

    /// As a string of the language.
    package static func literal(_ text: String) -> String { StreamStatements.literal(Array(text.utf8)) }

    /// Takes what has come: whoever acts next has seen it.
    package func statements(taking bytes: [UInt8]) -> String {
        StreamStatements.expectations(of: bytes, framing, by: actor).joined(separator: "\n")
    }

    // MARK: Saving

    /// The scenario as a file.
    ///
    /// - Parameters:
    ///   - unread: what has come and no step has taken.
    ///   - ending: `eof` or `reset`, where the peer has ended it and no step has expected that.
    package func saved(unread: [UInt8], ending: String?) -> [UInt8] {
        var lines = header + lines
        if !unread.isEmpty { lines.append(statements(taking: unread)) }
        if let ending { lines.append("\(actor) expect \(ending)") }
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        guard case .formatted(let formatted) = ScenarioFormatter.format(path: Self.path, bytes: text) else {
            return text
        }
        return formatted
    }
}
