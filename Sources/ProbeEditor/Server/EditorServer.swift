package import ProbeBase
package import ProbeScenario

/// A language server as a state machine, which receives bytes from the client and produces bytes for the client.
///
/// The server runs no programs, and reads files only through its loader. It never traps, whatever it receives. Its
/// memory is limited by ``MessageFraming/largestMessage``, ``maxDocuments`` and ``maxTextBytes``.
package struct EditorServer {
    /// The maximum number of open documents.
    static let maxDocuments = 1_000
    /// The maximum total size of open documents, in bytes.
    static let maxTextBytes = 256 << 20
    /// The maximum number of unanswered messages.
    package static let maxPending = 500

    private enum Phase {
        case uninitialized, running, shutDown
    }

    let version: String
    let targets: AllowedTargets
    let loader: FileLoader
    private var framing = MessageFraming()
    private var pending: [ClientMessage] = []
    private var phase = Phase.uninitialized
    var clientCapabilities = ClientCapabilities()
    /// The open documents, by URI.
    var documents: [String: OpenDocument] = [:]
    /// The bytes to be written to the client.
    private var output: [UInt8] = []

    /// The exit code, set once the client has sent `exit`: 0 after `shutdown`, otherwise 1.
    package private(set) var exitCode: Int32?

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - version: the product's version, which is sent to the client.
    ///   - targets: the addresses that scripts may use.
    ///   - loader: reads included files and files named in `file(…)`.
    package init(version: String, allowing targets: AllowedTargets, loader: @escaping FileLoader) {
        self.version = version
        self.targets = targets
        self.loader = loader
    }

    /// The number of messages that have been received but not answered.
    package var pendingCount: Int { pending.count }
    /// Whether part of a message, but not all of it, has been received.
    package var isInsideMessage: Bool { framing.isInside }
    /// The exit code if the input ends without an `exit` notification.
    package var codeAtEnd: Int32 { phase == .shutDown ? 0 : 1 }

    /// Receives bytes from the client. A request that is cancelled before ``settle()`` gets no result.
    ///
    /// - Throws: an error if the bytes are not a sequence of messages; messages before the error have been received.
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
                pending[index] = .malformed(id: waiting, ResponseError(.cancelled, "the request was canceled"))
            }
        }
    }

    /// Answers all messages received so far, and publishes the diagnostics of changed documents.
    ///
    /// - Returns: the bytes to write to the client.
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
            // A notification has no response. The error is logged but not shown, because the user did not cause it.
            let text = "\(Escaped.text(method)): \(error.message)"
            send(
                ServerMessage.notification(
                    "window/logMessage", .object([("type", .integer(1)), ("message", .string(text))])))
        }
    }

    private mutating func result(of method: String, _ params: JSONValue) throws(ResponseError) -> JSONValue {
        switch (phase, method) {
        case (.uninitialized, "initialize"):
            clientCapabilities = ClientCapabilities(params)
            phase = .running
            return description
        case (.uninitialized, _): throw ResponseError(.notInitialized, "the first request must be `initialize`")
        case (.running, "initialize"): throw ResponseError(.invalidRequest, "`initialize` can be sent only once")
        case (.running, "shutdown"):
            phase = .shutDown
            documents = [:]
            return .null
        case (.running, _): return try answer(method, params)
        case (.shutDown, _): throw ResponseError(.invalidRequest, "only `exit` is allowed after `shutdown`")
        }
    }

    /// The server's capabilities.
    private var description: JSONValue {
        let capabilities: [JSONValue.Member] = [
            ("positionEncoding", .string(clientCapabilities.encoding.rawValue)),
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
    /// Handles a notification from the client.
    mutating func notice(_ method: String, _ params: JSONValue) throws(ResponseError) {
        switch method {
        case "textDocument/didOpen": try open(params)
        case "textDocument/didChange": try change(params)
        case "textDocument/didClose": try close(params)
        // A file on disk may have changed, so analyses that depend on other files are invalidated.
        case "textDocument/didSave", "workspace/didChangeWatchedFiles":
            for uri in documents.keys where !(documents[uri]?.isAlone ?? true) { documents[uri]?.forget() }
        default: break
        }
    }

    private mutating func open(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard let text = params["textDocument"]?["text"]?.text else {
            throw ResponseError(.invalidParams, "`textDocument.text` is missing")
        }
        var document = OpenDocument(uri: uri, version: params["textDocument"]?["version"] ?? .null, text: text)
        guard documents[uri] != nil || documents.count < Self.maxDocuments else {
            throw ResponseError(.invalidRequest, "too many documents are open: the limit is \(Self.maxDocuments)")
        }
        documents[uri] = nil
        if document.text.bytes.count + sizeOfTexts > Self.maxTextBytes { document.drop() }
        documents[uri] = document
        forgetDependents(on: document.path, but: uri)
    }

    private mutating func change(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard var document = documents.removeValue(forKey: uri) else {
            throw ResponseError(.invalidParams, "the document is not open")
        }
        defer {
            if document.text.bytes.count + sizeOfTexts > Self.maxTextBytes { document.drop() }
            documents[uri] = document
            forgetDependents(on: document.path, but: uri)
        }
        guard case .array(let changes) = params["contentChanges"] else {
            throw ResponseError(.invalidParams, "`contentChanges` is missing")
        }
        try document.apply(changes, version: params["textDocument"]?["version"] ?? .null, clientCapabilities.encoding)
    }

    /// The total size of the texts of all documents, in bytes.
    private var sizeOfTexts: Int { documents.values.reduce(0) { $0 + $1.text.bytes.count } }

    private mutating func close(_ params: JSONValue) throws(ResponseError) {
        let uri = try ProtocolValue.uri(params)
        guard let document = documents.removeValue(forKey: uri) else { return }
        // Without an empty list, the diagnostics of the closed document would remain visible.
        sendDiagnostics([], of: document)
        forgetDependents(on: document.path, but: uri)
    }

    /// Invalidates the documents that include a file, because these documents use the editor's version of that file.
    private mutating func forgetDependents(on path: String?, but uri: String) {
        guard let path else { return }
        for other in documents.keys where other != uri && documents[other]?.includedPaths.contains(path) == true {
            documents[other]?.forget()
        }
    }

    // MARK: Analysis

    /// Returns the analysis of an open document. The analysis is renewed if the text has changed.
    ///
    /// - Throws: an error if the document is not open.
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

    /// Returns a loader that uses the editor's text for open files, and the given loader for all other files.
    private func loader(for document: OpenDocument) -> FileLoader {
        guard document.path != nil else {
            return { _ throws(LoadError) in throw .failed("the document has not been saved to a file") }
        }
        let loader = loader
        let texts = documents.values.reduce(into: [String: [UInt8]]()) { texts, other in
            if let path = other.path, other.uri != document.uri, !other.isTooLarge { texts[path] = other.text.bytes }
        }
        return { file throws(LoadError) in
            let text = texts[ScriptPath.normalized(file.shown)]
            do throws(LoadError) {
                // The file is read even if it is open in the editor, because the file system determines whether it may
                // be read at all.
                let bytes = try loader(file)
                return text ?? bytes
            } catch {
                guard error == .notFound, let text else { throw error }
                return text
            }
        }
    }

    // MARK: Diagnostics

    /// Publishes the diagnostics of each document that has changed.
    mutating func publishDiagnostics() {
        for uri in documents.keys.sorted() where documents[uri]?.isUnpublished == true {
            guard let document = documents[uri] else { continue }
            documents[uri]?.isUnpublished = false
            if document.isTooLarge {
                sendDiagnostics([DiagnosticMessage.tooLarge], of: document)
                continue
            }
            do throws(ResponseError) {
                let messages = DiagnosticMessage(
                    analysis: try analysis(of: uri), uri: uri, clientCapabilities: clientCapabilities, uriOfPath: uris)
                sendDiagnostics(messages.values, of: document)
            } catch {
                // The document has already been found and is therefore open, so no error can occur.
            }
        }
    }

    /// The URIs of open files, as spelled by the client.
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
    /// Whether the document is known to depend on no other file.
    fileprivate var isAlone: Bool {
        guard let analysis else { return false }
        return analysis.files.allSatisfy { $0.outline.files.isEmpty && !$0.outline.hasProcess }
    }
}

extension ScriptOutline {
    /// Whether the script declares a process, whose command may refer to files next to the script.
    fileprivate var hasProcess: Bool { knownActors.values.contains(.process) }
}

extension EditorServer {
    /// Returns the result of a request.
    mutating func answer(_ method: String, _ params: JSONValue) throws(ResponseError) -> JSONValue {
        switch method {
        case "textDocument/hover": try hover(params)
        case "textDocument/completion": try complete(params)
        case "textDocument/definition": try define(params)
        case "textDocument/formatting": try format(params)
        case "textDocument/codeLens": try lenses(params)
        case "textDocument/documentSymbol": try symbols(params)
        default: throw ResponseError(.methodNotFound, "unknown method \(Escaped.quoted(method))")
        }
    }

    /// Returns the document to which a request refers, and the offset in it.
    private mutating func place(_ params: JSONValue) throws(ResponseError) -> (analysis: ScriptAnalysis, offset: Int) {
        let analysis = try analysis(of: try ProtocolValue.uri(params))
        let position = try ProtocolValue.position(params["position"])
        return (analysis, analysis.document.text.offset(of: position, clientCapabilities.encoding))
    }

    private func range(_ span: Range<Int>, _ analysis: ScriptAnalysis) -> JSONValue {
        ProtocolValue.range(span, in: analysis.document.text, clientCapabilities.encoding)
    }

    private mutating func hover(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let (analysis, offset) = try place(params)
        guard let (parts, span) = HoverText(analysis, clientCapabilities.encoding).answer(at: offset) else {
            return .null
        }
        let text = HoverText.text(parts, isMarkdown: clientCapabilities.hoversMarkdown)
        var members: [JSONValue.Member] = [
            ("contents", ProtocolValue.markup(text, isMarkdown: clientCapabilities.hoversMarkdown))
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
                // Completion items are sorted in the order of the language's table. Names come first, because they are
                // the most likely choice.
                ("sortText", .string(String(100_000 + index))),
                ("textEdit", .object([("range", range), ("newText", .string(item.label))])),
            ]
            if let detail = item.detail { members.append(("detail", .string(detail))) }
            if let text = item.documentation {
                let isMarkdown = clientCapabilities.documentsMarkdown
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
            return ProtocolValue.location(
                DiagnosticMessage.uri(of: path, uris), 0..<0, in: start, clientCapabilities.encoding)
        }
        guard let use = places.name(at: offset), let found = places.binding(of: use) else { return .null }
        let file = analysis.files[found.file]
        return ProtocolValue.location(
            found.file == 0 ? uri : DiagnosticMessage.uri(of: file.path, uris), found.binding.span, in: file.text,
            clientCapabilities.encoding)
    }

    private mutating func format(_ params: JSONValue) throws(ResponseError) -> JSONValue {
        let uri = try ProtocolValue.uri(params)
        guard let document = documents[uri] else {
            throw ResponseError(.invalidParams, "the document is not open")
        }
        guard let edit = FormattingEdit.edit(path: document.name, bytes: document.text.bytes) else { return .array([]) }
        return .array([
            .object([
                ("range", ProtocolValue.range(edit.range, in: document.text, clientCapabilities.encoding)),
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
                if clientCapabilities.hasSymbolTree {
                    members += [
                        ("detail", .string(binding.role.phrase)), ("range", range(whole, analysis)),
                        ("selectionRange", range(binding.span, analysis)),
                    ]
                } else {
                    members.append(
                        (
                            "location",
                            ProtocolValue.location(uri, whole, in: analysis.document.text, clientCapabilities.encoding)
                        ))
                }
                return .object(members)
            })
    }
}

extension ScriptOutline.Role {
    /// The protocol's number for the kind of symbol: class, variable, function or array.
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
    /// Returns the id of a case for `tcpprobe run --filter`: the file's name without `.scn`, followed by the case's
    /// label.
    static func id(of path: String, label: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return (name.hasSuffix(".scn") ? String(name.dropLast(4)) : name) + label
    }
}
