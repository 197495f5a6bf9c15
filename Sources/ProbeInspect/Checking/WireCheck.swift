package import ProbeBase
import ProbeEvents
package import ProbeScenario
package import ProbeWire

/// One wire statement about the flows of a capture, with its values computed.
package struct WireCheck: Sendable {
    package let assertion: WireAssertion
    package let place: SourceLocation
    /// As the user wrote it.
    package let text: String
    /// The place and the statement, escaped for a terminal: `--check:1:1: wire no rst`.
    let heading: String

    private init(_ assertion: WireAssertion, at place: SourceLocation, text: String) {
        self.assertion = assertion
        self.place = place
        self.text = text
        heading = Self.heading(at: place) + Escaped.text(text)
    }

    private static func heading(at place: SourceLocation) -> String {
        "\(Escaped.text(place.path)):\(place.line):\(place.column): "
    }

    /// Parses statements and computes their values.
    ///
    /// - Parameters:
    ///   - path: shown in messages; `file("…")` is relative to it.
    ///   - framing: what `messages` counts.
    /// - Returns: the checks, or the diagnostics as text.
    package static func parse(
        path: String, bytes: [UInt8], framing: Framing, loader: @escaping FileLoader
    ) -> Result<WireCheckList, WireCheckError> {
        let parsed = WireStatements.parse(path: path, bytes: bytes, framing: framing, loader: loader)
        let renderer = DiagnosticRenderer(sources: parsed.sources)
        if parsed.hasErrors { return .failure(WireCheckError(text: renderer.render(parsed.diagnostics))) }
        let evaluator = Evaluator(scope: BoundScope(loader: loader), sources: parsed.sources, framing: framing)
        var checks: [WireCheck] = []
        for item in parsed.items {
            do throws(EvaluationError) {
                checks.append(
                    WireCheck(
                        assertion(try ResolvedStatement(item.statement, evaluator: evaluator, framing: framing)),
                        at: parsed.sources.location(of: item.span),
                        text: parsed.sources.text(of: item.span)))
            } catch {
                let hint = error.reason.hint.map { "  hint: \($0)\n" } ?? ""
                let head = heading(at: parsed.sources.location(of: error.span)) + "error: "
                return .failure(
                    WireCheckError(
                        text: head + error.reason.text + "\n" + renderer.excerpt(error.span) + hint))
            }
        }
        return .success(
            WireCheckList(checks: checks, warnings: renderer.render(parsed.diagnostics)))
    }

    private static func assertion(_ statement: ResolvedStatement) -> WireAssertion {
        switch statement {
        case .sent(let assertion, let from, _): .halfConnection(assertion, from: side(from))
        case .endpoint(let event, let name, _): event.assertion(side(name))
        case .everywhere(let assertion): assertion
        // Of a capture the check refuses it: there is no link.
        case .arrived(let statement): assertion(statement)
        }
    }

    /// The checker accepts no other names.
    private static func side(_ name: Name) -> ConversationSide { name.value == "server" ? .server : .client }
}

package struct WireCheckList: Sendable {
    package var checks: [WireCheck]
    /// The warnings as text; empty if there are none.
    package var warnings: String
}

/// Statements that can't be judged: diagnostics with places and carets.
package struct WireCheckError: Error, Sendable {
    package var text: String
}
