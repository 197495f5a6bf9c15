import ProbeBase
import ProbeScenario

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
