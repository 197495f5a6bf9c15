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
