package import ProbeBase

/// Statements about a capture: `wire` lines without the rest of a script. The names `client` and `server` are
/// predefined.
///
/// The statements are processed by the parser and the checker of scenarios, so each line means the same as it would in
/// a scenario.
package struct WireStatements: Sendable {
    package struct Item: Sendable {
        package var statement: WireStatement<Parsed>
        /// The span of the whole statement.
        package var span: SourceSpan
    }

    /// The names that the statements may use in addition to `client` and `server`.
    package struct Given: Sendable {
        package var actors: Set<String> = []
        package var variables: [String: ValueType] = [:]
        /// Whether statements may use the word `arrived`.
        package var hasLinks = false

        package init() {}
    }

    /// The statements; empty if there is an error.
    package let items: [Item]
    /// The diagnostics, in source order.
    package let diagnostics: [Diagnostic]
    package let sources: SourceMap

    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// Parses `wire` statements. Comments and empty lines are allowed, as in a script. The word `wire` may be omitted.
    ///
    /// - Parameters:
    ///   - path: the path that messages show. The paths in `file("…")` are relative to it.
    ///   - framing: the framing that defines `messages`, `line(…)` and `lines(…)`.
    ///   - given: the names that the capture provides.
    package static func parse(
        path: String, bytes: [UInt8], framing: Framing = .crlf, given: Given = Given(), loader: @escaping FileLoader
    ) -> WireStatements {
        let context = ParseContext(path: path, bytes: bytes, loader: loader)
        context.scenario.framing = framing
        context.integerNames = Set(given.variables.filter { $0.value == .integer }.keys)
        let list = Lexer.tokens(file: 0, bytes: bytes)
        for diagnostic in list.diagnostics { context.diagnostics.add(diagnostic) }
        var items: [Item] = []
        if !list.isUnreadable {
            let cursor = TokenCursor(file: 0, bytes: bytes, tokens: list.tokens, context: context)
            let steps = StepParser(cursor: cursor).parseWireStatements()
            ScenarioChecker(context).check(wireStatements: steps, given: given)
            for case .wire(let statement, _) in steps.map(\.kind) {
                items.append(Item(statement: statement, span: steps[items.count].span))
            }
            if items.isEmpty, context.diagnostics.all.isEmpty {
                context.report(
                    .emptyScript, "there is no statement, so nothing would be checked",
                    hint: "add a statement, such as `wire client -> server lines crlf`",
                    at: SourceSpan(file: 0, start: 0, end: 0))
            }
        }
        if context.diagnostics.hasErrors { items = [] }
        return WireStatements(items: items, diagnostics: context.diagnostics.sorted, sources: context.sources)
    }
}

extension StepParser {
    /// Parses one `wire` step per line, and nothing else.
    fileprivate func parseWireStatements() -> [Step] {
        var steps: [Step] = []
        while cursor.kind != .end {
            if cursor.take(.newline) { continue }
            let start = cursor.index
            let first = cursor.token
            do throws(Abandoned) {
                _ = cursor.take(word: "wire")
                let focus = cursor.place
                let statement = try wire.parseWire()
                let timing = try parseTiming()
                let whole = cursor.span(from: first)
                try parseEndOfStatement()
                steps.append(
                    Step(id: context.nextStepID(), kind: .wire(statement, timing), span: whole, focus: focus))
            } catch {
                recover(from: start)
            }
        }
        return steps
    }
}
