package import ProbeBase
import ProbeEvents
package import ProbeScenario
package import ProbeWire

/// One statement of the scenario language about the flows of a capture, with its values computed.
package struct WireCheck: Sendable {
    package let assertion: WireAssertion
    package let place: SourceLocation
    /// As it was written.
    package let text: String
    /// Both, fit for a terminal: `--check:1:1: wire no rst`.
    let heading: String

    private init(_ assertion: WireAssertion, at place: SourceLocation, text: String) {
        self.assertion = assertion
        self.place = place
        self.text = text
        heading = Self.heading(at: place) + EscapedBytes.safeText(text)
    }

    private static func heading(at place: SourceLocation) -> String {
        "\(EscapedBytes.safeText(place.path)):\(place.line):\(place.column): "
    }

    /// Reads statements and computes their values.
    ///
    /// - Parameters:
    ///   - path: stands in messages, and `file("…")` is found relative to it.
    ///   - framing: what `messages` counts.
    /// - Returns: the checks; or what is wrong, drawn for people.
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
                        try assertion(item.statement, evaluator, framing), at: parsed.sources.location(of: item.span),
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

    private static func assertion(
        _ statement: WireStatement, _ evaluator: Evaluator, _ framing: Framing
    ) throws(EvaluationError) -> WireAssertion {
        switch statement {
        case .halfConnection(let from, _, let flow):
            .halfConnection(try HalfConnectionAssertion(flow, evaluator: evaluator, framing: framing), from: side(from))
        case .fin(let from, _): .fin(from: side(from))
        case .rst(let from, _): .rst(from: side(from))
        case .closedFirst(let name): .closedFirst(by: side(name))
        case .noReset: .noReset
        case .handshakeComplete: .handshakeComplete
        case .noRetransmission: .noRetransmission
        case .packets(let comparison, let count):
            .packets(comparison, try evaluator.integer(of: count))
        }
    }

    /// The checker lets no other names through.
    private static func side(_ name: Name) -> ConversationSide { name.value == "server" ? .server : .client }
}

package struct WireCheckList: Sendable {
    package var checks: [WireCheck]
    /// Drawn for people; empty when there are none.
    package var warnings: String
}

/// Statements that can't be judged, with positions and carets.
package struct WireCheckError: Error, Sendable {
    package var text: String
}

extension ConversationLimits {
    /// Enough to judge these; streams that no statement looks into pass through.
    package static func judging(_ assertions: [WireAssertion]) -> ConversationLimits {
        var limits = ConversationLimits.counting
        // The first ones are named where there should be none.
        if assertions.contains(.noRetransmission) {
            limits.keptEvents = 64
            limits.keptSegments = 64
        }
        for case .halfConnection(let statement, _) in assertions {
            switch statement {
            case .firstByte, .retransmissions, .segmentCount, .largestSegment:
                limits.keptEvents = 64
                limits.keptSegments = max(limits.keptSegments, 64)
            case .bytes(let expected):
                // Some bytes more, to show how the stream goes on where it differs.
                limits.keptBytes = max(limits.keptBytes, expected.count + 4096)
            case .segments(let expected):
                limits.keptBytes = max(limits.keptBytes, expected.reduce(4096) { $0 + $1.count })
                limits.keptSegments = ConversationLimits.live.keptSegments
            case .gap: limits.keptSegments = ConversationLimits.live.keptSegments
            case .lines(.nul), .messages(_, _, .cr), .messages(_, _, .nul), .messages(_, _, .u8), .messages(_, _, .u16),
                .messages(_, _, .u32), .messages(_, _, .u64), .messages(_, _, .varint):
                limits.keptBytes = ConversationLimits.live.keptBytes
            case .lines: limits.quotes = true
            case .longestLine, .messages, .zeroWindow, .window, .urgent: break
            }
        }
        if limits.keptBytes > 0 { limits.totalBytes = ConversationLimits.live.totalBytes }
        return limits
    }
}
