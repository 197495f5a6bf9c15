package import ProbeBase
package import ProbeScenario

/// A language server as a state machine: bytes of the client in, bytes for the client out.
///
/// It runs nothing, and reads no file but through its loader. Never traps, whatever comes. Memory is bounded by
/// ``MessageFraming/largestMessage``, ``mostDocuments`` and ``mostText``.
package struct EditorServer {
    /// Documents that are open at the same time.
    static let mostDocuments = 1_000
    /// Bytes of all of them.
    static let mostText = 256 << 20
    /// Messages that wait before they are answered.
    package static let mostPending = 500

    private enum Phase {
        case uninitialized, running, shutDown
    }

    let version: String
    let targets: AllowedTargets
    let loader: FileLoader
    private var framing = MessageFraming()
    private var pending: [ClientMessage] = []
    private var phase = Phase.uninitialized
    var abilities = ClientAbilities()
    /// By their URIs.
    var documents: [String: OpenDocument] = [:]
    /// What is to be written.
    private var output: [UInt8] = []

    /// The exit code, once the client has said `exit`: 0 behind `shutdown`, else 1.
    package private(set) var exitCode: Int32?

    /// - Parameters:
    ///   - version: of the product, for the client.
    ///   - targets: the addresses that scripts may use.
    ///   - loader: reads includes and the files of `file(…)`.
    package init(version: String, allowing targets: AllowedTargets, loader: @escaping FileLoader) {
        self.version = version
        self.targets = targets
        self.loader = loader
    }

    /// Messages have come and are not answered yet.
    package var pendingCount: Int { pending.count }
    /// The client has ended in the middle of a message.
    package var isInsideMessage: Bool { framing.isInside }
    /// What an end without `exit` means.
    package var codeAtEnd: Int32 { phase == .shutDown ? 0 : 1 }

    /// Takes bytes of the client. A request that is cancelled before ``settle()`` gets no result.
    ///
    /// - Throws: where no messages can be found in the bytes; those before have been taken.
    package mutating func receive(_ chunk: Span<UInt8>) throws(MessageFraming.Failure) {
        framing.append(chunk)
        while let bytes = try framing.next() {
            let message = ClientMessage(bytes)
            if case .notification("$/cancelRequest", let params) = message {
                cancel(params["id"])
            } else {
                pending.append(message)
            }
        }
    }

    private mutating func cancel(_ id: JSONValue?) {
        guard let id else { return }
        let key = ServerMessage.key(of: id)
        for (index, message) in pending.enumerated() {
            if case .request(let waiting, _, _) = message, ServerMessage.key(of: waiting) == key {
                pending[index] = .malformed(id: waiting, ResponseError(.cancelled, "the request was cancelled"))
            }
        }
    }

    /// Answers what has come, and tells the diagnostics of what has changed.
    ///
    /// - Returns: what is to be written to the client.
    package mutating func settle() -> [UInt8] {
        let messages = pending
        pending = []
        for message in messages where exitCode == nil { handle(message) }
        if phase == .running, exitCode == nil { publishDiagnostics() }
        defer { output = [] }
        return output
    }

    mutating func send(_ message: JSONValue) {
        output += MessageFraming.framed(message.encoded())
    }

    // MARK: The protocol's states

    private mutating func handle(_ message: ClientMessage) {
        switch message {
        case .response: break
        case .malformed(let id, let error): send(ServerMessage.error(error, id: id))
        case .notification(let method, let params): handleNotification(method, params)
        case .request(let id, let method, let params):
            do throws(ResponseError) {
                send(ServerMessage.result(try result(of: method, params), id: id))
            } catch {
                send(ServerMessage.error(error, id: id))
            }
        }
    }

    private mutating func handleNotification(_ method: String, _ params: JSONValue) {
        if method == "exit" {
            exitCode = codeAtEnd
            return
        }
        guard phase == .running else { return }
        do throws(ResponseError) {
            try notice(method, params)
        } catch {
            // A notification has no answer; the user is told nothing, as nothing that they did is wrong.
            let text = "\(Escaped.text(method)): \(error.message)"
            send(
                ServerMessage.notification(
                    "window/logMessage", .object([("type", .integer(1)), ("message", .string(text))])))
        }
    }

    private mutating func result(of method: String, _ params: JSONValue) throws(ResponseError) -> JSONValue {
        switch (phase, method) {
        case (.uninitialized, "initialize"):
            abilities = ClientAbilities(params)
            phase = .running
            return description
        case (.uninitialized, _): throw ResponseError(.notInitialized, "initialize comes first")
        case (.running, "initialize"): throw ResponseError(.invalidRequest, "initialize comes once")
        case (.running, "shutdown"):
            phase = .shutDown
            documents = [:]
            return .null
        case (.running, _): return try answer(method, params)
        case (.shutDown, _): throw ResponseError(.invalidRequest, "behind shutdown there is only exit")
        }
    }

    /// What the server can do.
    private var description: JSONValue {
        let capabilities: [JSONValue.Member] = [
            ("positionEncoding", .string(abilities.encoding.rawValue)),
            (
                "textDocumentSync",
                .object([
                    ("openClose", .boolean(true)), ("change", .integer(2)),
                    ("save", .object([("includeText", .boolean(false))])),
                ])
            ),
            ("hoverProvider", .boolean(true)),
            (
                "completionProvider",
                .object([
                    ("triggerCharacters", .array([" ", "{", "."].map(JSONValue.string))),
                    ("resolveProvider", .boolean(false)),
                ])
            ),
            ("definitionProvider", .boolean(true)),
            ("documentSymbolProvider", .boolean(true)),
            ("documentFormattingProvider", .boolean(true)),
            ("codeLensProvider", .object([("resolveProvider", .boolean(false))])),
        ]
        return .object([
            ("capabilities", .object(capabilities)),
            ("serverInfo", .object([("name", .string("tcpprobe")), ("version", .string(version))])),
        ])
    }
}

extension EditorServer {
    /// What the client tells.
    mutating func notice(_ method: String, _ params: JSONValue) throws(ResponseError) {
        switch method {
        case "textDocument/didOpen": try open(params)
        case "textDocument/didChange": try change(params)
        case "textDocument/didClose": try close(params)
        // A file on the disk may be another one now.
        case "textDocument/didSave", "workspace/didChangeWatchedFiles":
            for uri in documents.keys where !(documents[uri]?.isAlone ?? true) { documents[uri]?.forget() }
        default: break
        }
    }

    private mutating func open(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard let text = params["textDocument"]?["text"]?.text else {
            throw ResponseError(.invalidParams, "textDocument.text is missing")
        }
        var document = OpenDocument(uri: uri, version: params["textDocument"]?["version"] ?? .null, text: text)
        guard documents[uri] != nil || documents.count < Self.mostDocuments else {
            throw ResponseError(.invalidRequest, "more than \(Self.mostDocuments) documents are open")
        }
        documents[uri] = nil
        if document.text.bytes.count + sizeOfTexts > Self.mostText { document.drop() }
        documents[uri] = document
        forgetDependents(on: document.path, but: uri)
    }

    private mutating func change(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard var document = documents.removeValue(forKey: uri) else {
            throw ResponseError(.invalidParams, "the document is not open")
        }
        defer {
            if document.text.bytes.count + sizeOfTexts > Self.mostText { document.drop() }
            documents[uri] = document
            forgetDependents(on: document.path, but: uri)
        }
        guard case .array(let changes) = params["contentChanges"] else {
            throw ResponseError(.invalidParams, "contentChanges is missing")
        }
        try document.apply(changes, version: params["textDocument"]?["version"] ?? .null, abilities.encoding)
    }

    /// The bytes of all documents.
    private var sizeOfTexts: Int { documents.values.reduce(0) { $0 + $1.text.bytes.count } }

    private mutating func close(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard let document = documents.removeValue(forKey: uri) else { return }
        // What is shown of it would stay.
        sendDiagnostics([], of: document)
        forgetDependents(on: document.path, but: uri)
    }

    /// What includes a file reads it as it stands in the editor.
    private mutating func forgetDependents(on path: String?, but uri: String) {
        guard let path else { return }
        for other in documents.keys where other != uri && documents[other]?.includedPaths.contains(path) == true {
            documents[other]?.forget()
        }
    }

    // MARK: Analysis

    /// The analysis of an open document; made where the text is another one since the last time.
    ///
    /// - Throws: where the document is not open.
    mutating func analysis(of uri: String) throws(ResponseError) -> ScriptAnalysis {
        guard let document = documents[uri] else {
            throw ResponseError(.invalidParams, "the document is not open")
        }
        if let analysis = document.analysis { return analysis }
        let analysis = ScriptAnalysis(
            path: document.name, text: document.text, allowing: targets, loader: loader(for: document))
        documents[uri]?.analysis = analysis
        documents[uri]?.includedPaths = analysis.includedPaths
        return analysis
    }

    /// Reads files as the given loader does, and those that are open as they stand in the editor.
    private func loader(for document: OpenDocument) -> FileLoader {
        guard document.path != nil else {
            return { _ throws(LoadError) in throw .failed("the document is not saved as a file yet") }
        }
        let loader = loader
        let texts = documents.values.reduce(into: [String: [UInt8]]()) { texts, other in
            if let path = other.path, other.uri != document.uri, !other.isTooLarge { texts[path] = other.text.bytes }
        }
        return { file throws(LoadError) in
            let text = texts[ScriptPath.normalized(file.shown)]
            do throws(LoadError) {
                // The file system says whether the file may be read at all.
                let bytes = try loader(file)
                return text ?? bytes
            } catch {
                guard error == .notFound, let text else { throw error }
                return text
            }
        }
    }

    // MARK: Diagnostics

    /// Tells the diagnostics of each document that has changed.
    mutating func publishDiagnostics() {
        for uri in documents.keys.sorted() where documents[uri]?.isUntold == true {
            guard let document = documents[uri] else { continue }
            documents[uri]?.isUntold = false
            if document.isTooLarge {
                sendDiagnostics([DiagnosticMessage.tooLarge], of: document)
                continue
            }
            do throws(ResponseError) {
                let messages = DiagnosticMessage(
                    analysis: try analysis(of: uri), uri: uri, abilities: abilities, uriOfPath: uris)
                sendDiagnostics(messages.values, of: document)
            } catch {
                // The document is open: it was found above.
            }
        }
    }

    /// The URIs of open files, as the client spells them.
    var uris: [String: String] {
        documents.values.reduce(into: [:]) { uris, document in
            if let path = document.path { uris[path] = document.uri }
        }
    }

    private mutating func sendDiagnostics(_ values: [JSONValue], of document: OpenDocument) {
        var params: [JSONValue.Member] = [("uri", .string(document.uri))]
        if document.version.integer != nil { params.append(("version", document.version)) }
        params.append(("diagnostics", .array(values)))
        send(ServerMessage.notification("textDocument/publishDiagnostics", .object(params)))
    }
}

extension OpenDocument {
    /// No other file matters to it, as far as is known.
    fileprivate var isAlone: Bool {
        guard let analysis else { return false }
        return analysis.files.allSatisfy { $0.outline.files.isEmpty && !$0.outline.hasProcess }
    }
}

extension ScriptOutline {
    /// The command of a process may name files beside the script.
    fileprivate var hasProcess: Bool { knownActors.values.contains(.process) }
}

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
