package import ProbeBase
package import ProbeEvents
package import ProbeScenario
package import ProbeWire

/// A wire statement about the flows of a capture, with its values computed.
package struct WireCheck: Sendable {
    /// A `wire` step of the run that has the same text as the statement, and the statement with its values as they were
    /// at that step.
    package struct Moment: Sendable {
        package var step: CaptureNotes.Step
        package var statement: WireStatement<Resolved>
    }

    /// The assertion that the statement makes about `client` and `server`.
    package let assertion: WireAssertion
    let statement: WireStatement<Resolved>
    package let place: SourceLocation
    /// The statement as the user wrote it.
    package let text: String
    /// The location and the text of the statement, escaped for a terminal: `--check:1:1: wire no rst`.
    let heading: String
    package let moments: [Moment]

    private init(_ statement: WireStatement<Resolved>, at place: SourceLocation, text: String, moments: [Moment]) {
        self.statement = statement
        assertion = statement.assertion(from: statement.names.first?.value == "server" ? .server : .client)
        self.place = place
        self.text = text
        self.moments = moments
        heading = Self.heading(at: place) + Escaped.text(text)
    }

    private static func heading(at place: SourceLocation) -> String {
        "\(Escaped.text(place.path)):\(place.line):\(place.column): "
    }

    /// Parses wire statements and computes their values.
    ///
    /// - Parameters:
    ///   - path: the path of the statements' source. It is shown in messages, and the paths in `file("…")` are relative
    ///     to it.
    ///   - framing: the framing of the messages that `messages` counts; `nil` for the framing in the notes, or CRLF if
    ///     the notes contain none.
    ///   - notes: the notes of the run that wrote the capture, if any.
    /// - Returns: the checks and the text of any warnings.
    package static func parse(
        path: String, bytes: [UInt8], framing: Framing?, notes: CaptureNotes = CaptureNotes(), hasLinks: Bool = false,
        loader: @escaping FileLoader
    ) -> Result<WireCheckList, WireCheckError> {
        let framing = framing ?? notes.framing ?? .crlf
        var given = WireStatements.Given()
        given.actors = notes.names
        given.hasLinks = hasLinks
        for step in notes.steps {
            for (name, value) in step.values {
                if case .integer = value { given.variables[name] = .integer } else { given.variables[name] = .bytes }
            }
        }
        let parsed = WireStatements.parse(path: path, bytes: bytes, framing: framing, given: given, loader: loader)
        let renderer = DiagnosticRenderer(sources: parsed.sources)
        if parsed.hasErrors { return .failure(WireCheckError(text: renderer.render(parsed.diagnostics))) }
        var checks: [WireCheck] = []
        for item in parsed.items {
            let text = parsed.sources.text(of: item.span)
            let steps = notes.steps(like: text)
            func resolved(_ values: [String: CaptureNotes.NamedValue]) throws(EvaluationError) -> WireStatement<
                Resolved
            > {
                let scope = BoundScope(variables: values.mapValues(Value.init), loader: loader)
                return try item.statement.resolved(
                    by: Evaluator(scope: scope, sources: parsed.sources, framing: framing))
            }
            do throws(EvaluationError) {
                var moments: [Moment] = []
                for step in steps { moments.append(Moment(step: step, statement: try resolved(step.values))) }
                // The values at the last step are also the values at the end of the case.
                let statement = try resolved(steps.last?.values ?? [:])
                checks.append(
                    WireCheck(
                        statement, at: parsed.sources.location(of: item.span), text: text, moments: moments))
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
}

extension WireStatement {
    var isAboutArrivals: Bool {
        if case .arrived = self { true } else { false }
    }
}

extension Value {
    fileprivate init(_ value: CaptureNotes.NamedValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }
}

package struct WireCheckList: Sendable {
    package var checks: [WireCheck]
    /// The text of the warnings; empty if there are none.
    package var warnings: String
}

/// The error for statements that can't be judged. Its text consists of diagnostics with locations and carets.
package struct WireCheckError: Error, Sendable {
    package var text: String
}
