import ProbeBase
import ProbeScenario

extension EditorServer {
    /// The result of a request.
    mutating func answer(_ method: String, _ params: JSONValue) throws(ResponseError) -> JSONValue {
        switch method {
        case "textDocument/hover": try hover(params)
        case "textDocument/completion": try complete(params)
        case "textDocument/definition": try define(params)
        case "textDocument/formatting": try format(params)
        case "textDocument/codeLens": try lenses(params)
        case "textDocument/documentSymbol": try symbols(params)
        default: throw ResponseError(.methodNotFound, "there is no method \(Escaped.text(method))")
        }
    }

    /// The document and the place in it that a request names.
    private mutating func place(_ params: JSONValue) throws(ResponseError) -> (analysis: ScriptAnalysis, offset: Int) {
        let analysis = try analysis(of: try ProtocolValue.uri(params))
        let position = try ProtocolValue.position(params["position"])
        return (analysis, analysis.document.text.offset(of: position, abilities.encoding))
    }

    private func range(_ span: Range<Int>, _ analysis: ScriptAnalysis) -> JSONValue {
        ProtocolValue.range(span, in: analysis.document.text, abilities.encoding)
    }

    private mutating func hover(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let (analysis, offset) = try place(params)
        guard let (parts, span) = HoverText(analysis, abilities.encoding).answer(at: offset) else { return .null }
        let text = HoverText.text(parts, isMarkdown: abilities.hoversMarkdown)
        var members: [JSONValue.Member] = [
            ("contents", ProtocolValue.markup(text, isMarkdown: abilities.hoversMarkdown))
        ]
        if !span.isEmpty { members.append(("range", range(span, analysis))) }
        return .object(members)
    }

    private mutating func complete(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let (analysis, offset) = try place(params)
        let (items, replaced) = Completions(analysis, at: offset).answer()
        let range = range(replaced, analysis)
        let values = items.enumerated().map { index, item in
            var members: [JSONValue.Member] = [
                ("label", .string(item.label)), ("kind", .integer(item.kind.rawValue)),
                // In the order of the table: names first, as they are most likely.
                ("sortText", .string(String(100_000 + index))),
                ("textEdit", .object([("range", range), ("newText", .string(item.label))])),
            ]
            if let detail = item.detail { members.append(("detail", .string(detail))) }
            if let text = item.documentation {
                let isMarkdown = abilities.documentsMarkdown
                let shown = isMarkdown ? HoverText.fenced(text, "text") : text
                members.append(("documentation", ProtocolValue.markup(shown, isMarkdown: isMarkdown)))
            }
            return JSONValue.object(members)
        }
        return .object([("isIncomplete", .boolean(false)), ("items", .array(values))])
    }

    private mutating func define(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let uri = try ProtocolValue.uri(params)
        let (analysis, offset) = try place(params)
        let places = NamedPlace(analysis: analysis)
        if documents[uri]?.path != nil, let path = places.file(at: offset) {
            let start = DocumentText([])
            return ProtocolValue.location(DiagnosticMessage.uri(of: path, uris), 0..<0, in: start, abilities.encoding)
        }
        guard let use = places.name(at: offset), let found = places.binding(of: use) else { return .null }
        let file = analysis.files[found.file]
        return ProtocolValue.location(
            found.file == 0 ? uri : DiagnosticMessage.uri(of: file.path, uris), found.binding.span, in: file.text,
            abilities.encoding)
    }

    private mutating func format(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let uri = try ProtocolValue.uri(params)
        guard let document = documents[uri] else {
            throw ResponseError(.invalidParams, "the document is not open")
        }
        guard let edit = FormattingEdit.edit(path: document.name, bytes: document.text.bytes) else { return .array([]) }
        return .array([
            .object([
                ("range", ProtocolValue.range(edit.range, in: document.text, abilities.encoding)),
                ("newText", .string(String(decoding: edit.text, as: UTF8.self))),
            ])
        ])
    }

    private mutating func lenses(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let uri = try ProtocolValue.uri(params)
        let analysis = try analysis(of: uri)
        guard let path = documents[uri]?.path, let span = RunLens.place(in: analysis.document.outline) else {
            return .array([])
        }
        let range = range(span, analysis)
        return .array(
            RunLens.lenses(of: analysis).map { lens in
                let arguments = [uri] + (lens.label.map { [RunLens.id(of: path, label: $0)] } ?? [])
                return .object([
                    ("range", range),
                    (
                        "command",
                        .object([
                            ("title", .string(Escaped.text(lens.title))), ("command", .string("tcpprobe.run")),
                            ("arguments", .array(arguments.map(JSONValue.string))),
                        ])
                    ),
                ])
            })
    }

    private mutating func symbols(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let uri = try ProtocolValue.uri(params)
        let analysis = try analysis(of: uri)
        let outline = analysis.document.outline
        let symbols = outline.bindings.filter { outline.statements[$0.statement].opener == nil }
        return .array(
            symbols.map { binding in
                let whole = outline.span(of: binding.statement)
                var members: [JSONValue.Member] = [
                    ("name", .string(binding.name)), ("kind", .integer(binding.role.symbolKind)),
                ]
                if abilities.hasSymbolTree {
                    members += [
                        ("detail", .string(binding.role.phrase)), ("range", range(whole, analysis)),
                        ("selectionRange", range(binding.span, analysis)),
                    ]
                } else {
                    members.append(
                        (
                            "location",
                            ProtocolValue.location(uri, whole, in: analysis.document.text, abilities.encoding)
                        ))
                }
                return .object(members)
            })
    }
}

extension ScriptOutline.Role {
    /// As the protocol numbers them: a class, a variable, a function, an array.
    fileprivate var symbolKind: Int {
        switch self {
        case .actor: 5
        case .value: 13
        case .definition: 12
        case .table: 18
        }
    }
}

extension RunLens {
    /// The id of a case, as `tcpprobe run --filter` takes it: the file's name without `.scn`, and the label.
    static func id(of path: String, label: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return (name.hasSuffix(".scn") ? String(name.dropLast(4)) : name) + label
    }
}
