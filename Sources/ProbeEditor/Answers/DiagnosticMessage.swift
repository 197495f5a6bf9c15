import ProbeBase
import ProbeScenario

/// The diagnostics of a document in the protocol's format. They correspond to the output of `tcpprobe check`, with
/// notes as related information.
struct DiagnosticMessage: Sendable {
    let analysis: ScriptAnalysis
    let uri: String
    let clientCapabilities: ClientCapabilities
    /// The URIs of open files, by path.
    let uriOfPath: [String: String]

    var values: [JSONValue] { analysis.diagnostics.map(value) }

    /// The diagnostic for a document that is too large to be kept.
    static let tooLarge: JSONValue = .object([
        ("range", ProtocolValue.range(0..<0, in: DocumentText([]), .utf16)), ("severity", .integer(1)),
        ("code", .string(DiagnosticID.tooLarge.rawValue)), ("source", .string("tcpprobe")),
        (
            "message",
            .string(
                "the script was not checked: a script can have at most 64 MiB, and all open documents together at "
                    + "most 256 MiB")
        ),
    ])

    private func value(_ diagnostic: Diagnostic) -> JSONValue {
        let message = diagnostic.message
        var text = Escaped.text(message.text)
        if diagnostic.span.file != 0 { text = "\(shownPlace(diagnostic.span)): \(text)" }
        if let hint = message.hint { text += "\nhint: \(Escaped.text(hint))" }
        var related = diagnostic.notes.map { (text: Escaped.text($0.text), span: $0.span) }
        if diagnostic.span.file != 0 { related.insert(("location in the included file", diagnostic.span), at: 0) }
        if !clientCapabilities.hasRelatedInformation {
            for note in diagnostic.notes { text += "\nnote: \(shownPlace(note.span)): \(Escaped.text(note.text))" }
        }
        let span = analysis.spanInDocument(of: diagnostic.span) ?? 0..<0
        var members: [JSONValue.Member] = [
            ("range", ProtocolValue.range(span, in: analysis.document.text, clientCapabilities.encoding)),
            ("severity", .integer(diagnostic.severity == .error ? 1 : 2)), ("code", .string(message.id.rawValue)),
            ("source", .string("tcpprobe")), ("message", .string(text)),
        ]
        let places = related.compactMap { information($0.text, $0.span) }
        if clientCapabilities.hasRelatedInformation, !places.isEmpty {
            members.append(("relatedInformation", .array(places)))
        }
        return .object(members)
    }

    private func information(_ text: String, _ span: SourceSpan) -> JSONValue? {
        guard analysis.files.indices.contains(span.file) else { return nil }
        let file = analysis.files[span.file]
        let place = span.file == 0 ? uri : Self.uri(of: file.path, uriOfPath)
        let location = ProtocolValue.location(
            place, span.start..<max(span.start, span.end), in: file.text, clientCapabilities.encoding)
        return .object([("location", location), ("message", .string(text))])
    }

    /// Returns a location such as `common.scn:3:5`; for the document itself, only its line and column.
    private func shownPlace(_ span: SourceSpan) -> String {
        guard analysis.files.indices.contains(span.file) else { return "" }
        let file = analysis.files[span.file]
        let (line, column) = SourceFile(path: file.path, bytes: file.text.bytes).lineAndColumn(at: span.start)
        return span.file == 0
            ? "line \(line), column \(column)" : "\(Escaped.text(analysis.lastPart(of: file.path))):\(line):\(column)"
    }

    /// Returns the URI of a file, which the client may have opened under a different spelling.
    static func uri(of path: String, _ open: [String: String]) -> String {
        let path = ScriptPath.normalized(path)
        return open[path] ?? DocumentPath.uri(of: path)
    }
}
