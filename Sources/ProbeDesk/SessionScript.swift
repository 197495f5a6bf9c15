package import ProbeBase
import ProbeExplore
package import ProbeScenario

/// The scenario of a session: its header, and the steps that have been performed.
package struct SessionScript: Sendable {
    /// The session's own end of the connection, with the address and options.
    package enum End: Sendable {
        /// `target` is an address in the language's notation, and `options` is the text after it, such as
        /// ` tls name "a.test"`.
        case client(target: String, options: String)
        case server(address: String, options: String)
    }

    package let end: End
    package let framing: Framing
    private var header: [String]
    /// The text of the steps so far; failed steps are included as comments.
    private var lines: [String] = []
    /// The lines that later steps may depend on. New steps are checked together with these lines only, so that checks
    /// remain fast in long sessions.
    private var context: [String] = []
    /// The number of steps in `context`.
    private var contextCount = 0
    /// The number of steps that have been performed.
    package private(set) var count = 0
    /// The number of bytes from peers that may still be written out, as counted by ``StreamStatements``.
    private var room: Int
    /// The number of received bytes for which steps expect only a count, because the limit on bytes that are written
    /// out was reached.
    private var unwritten = 0

    /// The name of the session's own end of the connection.
    package var actor: String { if case .client = end { "C" } else { "S" } }
    package var kind: ActorKind { if case .client = end { .client } else { .server } }

    /// Creates the script of a session.
    ///
    /// - Parameter limit: the maximum number of bytes from peers that are written out; each statement counts as an
    ///   additional 64 bytes.
    package init(_ end: End, framing: Framing, title: String, limit: Int = SessionScript.defaultLimit) {
        (self.end, self.framing, room) = (end, framing, limit)
        header = ["scenario \(StreamStatements.literal(Array(title.utf8)))"]
        if framing != .crlf { header.append("framing \(framing.rawValue)") }
        header.append("")
        switch end {
        case .client(let target, let options): header.append("client C -> \(target)\(options)")
        case .server(let address, let options): header.append("server S on \(address)\(options)")
        }
        header.append("")
    }

    /// The step that establishes the connection.
    package var firstStep: String { if case .client = end { "C connect" } else { "S accept" } }

    /// Returns the plan of the script before any step has been performed.
    package func beginning(allowing targets: AllowedTargets, loader: @escaping FileLoader) throws(Problem) -> Plan {
        // A scenario must have at least one step, so the session's first step, which is known in advance, is included.
        let script = Array((header + [firstStep, ""]).joined(separator: "\n").utf8)
        let result = ScenarioCompiler.compile(path: Self.path, bytes: script, allowing: targets, loader: loader)
        guard let plan = result.plan else { throw Problem(text: Self.text(of: result)) }
        return plan
    }

    // MARK: Steps

    /// The script with additional steps, parsed and checked.
    package struct Extension: Sendable {
        package var plan: Plan
        /// The index of the first new step.
        package var first: Int
        fileprivate var text: String

        /// The names that the new steps give to connections.
        package var acceptedNames: [String] {
            plan.scenario.steps[first...].compactMap { step in
                if case .act(_, .server(.accept(let name?, _, _)), _) = step.kind { name.value } else { nil }
            }
        }

        /// Whether any new step acts on a connection rather than only observing it.
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

    /// A problem with the typed text.
    package struct Problem: Error, Sendable {
        package var text: String
    }

    /// Parses and checks the script with additional steps.
    ///
    /// - Parameter text: one or more statements.
    package func extended(
        by text: String, allowing targets: AllowedTargets, loader: @escaping FileLoader
    ) throws(Problem) -> Extension {
        let script = Array((header + context + [text, ""]).joined(separator: "\n").utf8)
        let result = ScenarioCompiler.compile(path: Self.path, bytes: script, allowing: targets, loader: loader)
        guard let plan = result.plan else {
            throw Problem(text: Self.text(of: result))
        }
        guard plan.scenario.steps.count > contextCount else {
            throw Problem(text: "error: the input contains no step\n")
        }
        return Extension(plan: plan, first: contextCount, text: text)
    }

    /// Records that the steps that were added to the script have been performed.
    package mutating func add(_ extended: Extension) {
        lines.append(extended.text)
        let steps = extended.plan.scenario.steps[extended.first...]
        count += steps.count
        // A block has fewer steps than lines of text.
        let texts = extended.text.split(separator: "\n")
        if texts.count == steps.count, zip(steps, texts).allSatisfy(Self.leavesNothing) { return }
        context.append(extended.text)
        contextCount += steps.count
    }

    /// Returns whether the step has no influence on the validity of later steps: it sends or receives bytes, and binds
    /// no name.
    private static func leavesNothing(_ step: Step, _ text: Substring) -> Bool {
        if text.contains(" as ") || text.contains("(?<") { return false }
        let words = text.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count > 2 else { return false }
        let isCount = words.count == 4 && words[2].allSatisfy(\.isNumber) && words[3] == "bytes"
        let isPlain = words[2].hasPrefix("\"") || ["line", "message"].contains(words[2]) || isCount
        switch step.kind {
        case .act(_, .connection(.send), _), .act(_, .connection(.expect), _): return isPlain
        default: return false
        }
    }

    /// Records a failed step as a comment, because it is not part of the scenario.
    package mutating func note(failureOf extended: Extension, _ reason: String) {
        lines += extended.text.split(separator: "\n", omittingEmptySubsequences: false).map { "# \($0)" }
        lines[lines.count - 1] += "   (\(Escaped.text(reason)))"
    }

    /// The path that represents the script in messages.
    private static let path = "session"

    /// Returns the first error without its location, which is the line that was just typed.
    private static func text(of result: CompilationResult) -> String {
        let errors = result.diagnostics.filter { $0.severity == .error }
        guard let first = errors.first else { return "error: invalid step\n" }
        let renderer = DiagnosticRenderer(sources: result.sources)
        var text = "error: \(Escaped.text(first.text)) [\(first.id.rawValue)]\n" + renderer.excerpt(first.span)
        if let hint = first.hint { text += "  hint: \(Escaped.text(hint))\n" }
        return text
    }

    // MARK: Statements

    /// Returns the statement that sends a typed line.
    package func statement(sending line: [UInt8]) -> String {
        "\(actor) send \(StreamStatements.word(framing.unit))\(StreamStatements.literal(line))"
    }

    /// Returns the text as a string literal of the language.
    package static func literal(_ text: String) -> String { StreamStatements.literal(Array(text.utf8)) }

    /// Returns statements that expect the received bytes, because the user has seen the bytes before the next step.
    package mutating func statements(taking bytes: [UInt8]) -> String {
        let taken = StreamStatements.expectations(of: bytes, framing, by: actor, room: &room)
        unwritten += taken.unwritten
        return taken.statements.joined(separator: "\n")
    }

    // MARK: Saving

    /// The part of a connection that the scenario lacks: the received bytes that no step has expected.
    package struct Rest: Sendable {
        package var actor: String
        package var unread: [UInt8] = []
        /// `eof` or `reset`, if the peer has ended the connection and no step has expected the end.
        package var ending: String?
        /// Whether some of the received bytes may be WebSocket frames, which the scenario does not distinguish from
        /// other bytes.
        package var mayHaveFrames = false

        package init(actor: String) { self.actor = actor }
    }

    /// The contents of a scenario file.
    package struct Saved: Sendable, Equatable {
        package var bytes: [UInt8]
        /// The number of bytes from peers for which the file expects only a count, because the limit on bytes that are
        /// written out was reached.
        package var unwritten: Int
    }

    /// The default value of `--limit`.
    package static let defaultLimit = 4 << 20

    /// Returns the scenario of the session so far, which expects everything that has been received.
    package func saved(_ rests: [Rest]) -> Saved {
        var (lines, room, unwritten) = (header + lines, room, unwritten)
        for rest in rests {
            if !rest.unread.isEmpty {
                let taken = StreamStatements.expectations(of: rest.unread, framing, by: rest.actor, room: &room)
                lines += taken.statements
                unwritten += taken.unwritten
            }
            if rest.mayHaveFrames { lines.append("\(rest.actor) ignore rest") }
            if let ending = rest.ending { lines.append("\(rest.actor) expect \(ending)") }
        }
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        guard case .formatted(let formatted) = ScenarioFormatter.format(path: Self.path, bytes: text) else {
            return Saved(bytes: text, unwritten: unwritten)
        }
        return Saved(bytes: formatted, unwritten: unwritten)
    }
}
