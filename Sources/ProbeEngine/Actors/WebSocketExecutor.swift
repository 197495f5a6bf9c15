import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// The WebSocket opening handshake (RFC 6455, section 4) on the harness's connections.
struct WebSocketExecutor {
    let context: CaseContext

    /// Sends a client's handshake request. If the server belongs to the script, a later step sends the answer, and the
    /// client's next step waits for that answer.
    func ask(
        for path: Expression, _ actor: ConnectionActor, _ connection: Connection, _ step: Step,
        _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) {
        let bytes = Array(try requestPath(path).utf8)
        var generator = SplitMix64(seed: context.settings.seed &+ context.connections.entries.count)
        let key = Base64.encode(generator.bytes(16))
        let host = connection.peer?.endpoint.map { "\($0)" } ?? "localhost"
        try await send(WebSocketHandshake.request(bytes, host: host, key: key), actor, connection, step)
        actor.opening = WebSocketOpening(key: key, path: bytes, span: step.span)
        if belongsToScript(connection.peer) { return }
        try await finishOpening(actor, connection, deadline, from: time)
    }

    /// Returns the requested resource: a path, optionally with a query (RFC 6455, section 3).
    func requestPath(_ path: Expression) throws(Finding) -> String {
        let bytes = try context.bytes(of: path)
        guard bytes.first == UInt8(ascii: "/"), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Finding(
                .error, at: path.span, "\(Escaped.phrase(bytes)) is not a request path",
                hints: ["begin the path with `/`, and percent-encode other characters, such as a space as `%20`"])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Answers a client's handshake request on behalf of a server.
    func answer(
        _ opening: ServerAction.WebSocketAccept, _ actor: ConnectionActor, _ connection: Connection, _ step: Step,
        _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) {
        let head = try await head(of: actor, connection, "the request", deadline, from: time) { false }
        guard let head else { return }
        let request: (path: [UInt8], key: [UInt8])
        do throws(WebSocketHandshake.Problem) { request = try WebSocketHandshake.readRequest(head) } catch {
            throw Finding(
                .failed, "\(actor.name) received a request that does not open a WebSocket: \(error.text)",
                details: Self.lines(head))
        }
        if let name = opening.path { context.bind(name.value, .bytes(request.path)) }
        try await send(WebSocketHandshake.answer(to: request.key), actor, connection, step)
        begin(actor, "opened a WebSocket at \(Escaped.text(request.path))")
        guard let peer = context.connections.ownPeer(of: connection), peer.owner.connection === peer.connection,
            peer.owner.opening != nil
        else { return }
        try await finishOpening(peer.owner, peer.connection, deadline, from: time)
    }

    /// Finishes the opening handshakes of clients that had received no answer when the last step ended.
    func finishOpenings() async throws(Finding) {
        for (owner, connection) in context.connections.entries
        where owner.opening != nil && owner.connection === connection {
            let now = MonotonicTime.now
            try await finishOpening(owner, connection, now + context.time.scaledTimeout, from: now)
        }
    }

    /// Waits for the server's answer to the handshake request, and judges it.
    func finishOpening(
        _ actor: ConnectionActor, _ connection: Connection, _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) {
        // Whatever the result, no later step should wait for the answer to the handshake request again.
        defer { actor.opening = nil }
        // Two steps that run concurrently may both wait for the answer to the handshake request.
        let head = try await head(of: actor, connection, "the answer", deadline, from: time) { actor.opening == nil }
        if let head, let opening = actor.opening { try requireValidAnswer(head, of: opening, actor) }
    }

    /// Judges the server's answer if it is complete, without waiting. Returns `false` while the answer is incomplete
    /// and the connection is open.
    func finishOpeningIfAnswered(_ actor: ConnectionActor, _ connection: Connection) throws(Finding) -> Bool {
        guard let opening = actor.opening else { return true }
        let head = takeHead(of: connection)
        if head == nil, connection.readEnd == nil { return false }
        actor.opening = nil
        if let head { try requireValidAnswer(head, of: opening, actor) }
        return true
    }

    private func requireValidAnswer(_ head: [UInt8], of opening: WebSocketOpening, _ actor: ConnectionActor)
        throws(Finding)
    {
        do throws(WebSocketHandshake.Problem) {
            try WebSocketHandshake.readAnswer(head, to: opening.key)
        } catch {
            throw Finding(
                .failed, at: opening.span, "\(actor.name)'s WebSocket opening handshake failed: \(error.text)",
                details: Self.lines(head))
        }
        begin(actor, "opened a WebSocket at \(Escaped.text(opening.path))")
    }

    private func begin(_ actor: ConnectionActor, _ event: String) {
        actor.framing = .websocket
        actor.wheneverProgress.searched = 0
        context.record(.event(actor: actor.name, event), at: .now)
    }

    private func belongsToScript(_ peer: SocketAddress?) -> Bool {
        guard let peer else { return false }
        return context.actors.values.contains { actor in
            guard case .server(let server) = actor else { return false }
            return server.address?.reachable == peer
        }
    }

    private func send(
        _ bytes: [UInt8], _ actor: ConnectionActor, _ connection: Connection, _ step: Step
    ) async throws(Finding) {
        var bytes = bytes
        if let layer = connection.tls {
            do throws(TLSError) { bytes = try layer.seal(bytes, recordLength: nil) } catch {
                throw Finding(.failed, "\(actor.name) can't send: \(error.reason)")
            }
        }
        let operation = SendOperation(pieces: [bytes], isUrgent: false, now: .now)
        connection.send(operation)
        context.annotations.addSend(step, actor.name, connection, operation)
        try await ConnectionExecutor(context: context).finish(operation, actor, connection)
    }

    /// Waits for the head of the peer's request or answer, removes it from the receive buffer and returns it; `nil` if
    /// `isDone` reports that the head is no longer needed.
    private func head(
        of actor: ConnectionActor, _ connection: Connection, _ what: String, _ deadline: MonotonicTime,
        from time: MonotonicTime, isDone: @escaping () -> Bool
    ) async throws(Finding) -> [UInt8]? {
        context.actors.waits[actor.name] = "\(what) of the WebSocket opening handshake"
        defer { context.actors.waits[actor.name] = nil }
        let end = WebSocketHandshake.end
        let _: Void? = try await context.wait(until: deadline, from: time) { () throws(Finding) -> Void? in
            let buffer = connection.receiveBuffer
            let isOver =
                buffer.count > WebSocketHandshake.longestHead || connection.readEnd != nil || isDone()
                || buffer.firstIndex(of: end) != nil
            return isOver ? () : nil
        }
        if isDone() { return nil }
        if let head = takeHead(of: connection) { return head }
        let count = connection.receiveBuffer.count
        let why =
            switch connection.readEnd {
            case _ where count > WebSocketHandshake.longestHead:
                "\(what) did not end within \(WebSocketHandshake.longestHead) bytes"
            case .eof?: "the peer closed the connection (FIN) before \(what) was complete"
            case .reset?: "the peer reset the connection (RST) before \(what) was complete"
            case .failed(let error, _)?: error.reason
            case nil: "\(what) was not complete within \(DurationText.script(deadline - time))"
            }
        throw Finding(
            .failed, at: actor.opening?.span, "\(actor.name)'s WebSocket opening handshake failed: \(why)",
            actual: Array(connection.receiveBuffer.unread.prefix(InputMatcher.shownLimit)),
            hints: connection.reading == .atOnce
                ? [] : ["move `\(actor.name) stop reading` or `\(actor.name) read … every` after the handshake"])
    }

    /// Removes the head from the receive buffer and returns it; `nil` if the head is incomplete or exceeds its size
    /// limit.
    private func takeHead(of connection: Connection) -> [UInt8]? {
        let end = WebSocketHandshake.end
        guard let index = connection.receiveBuffer.firstIndex(of: end), index <= WebSocketHandshake.longestHead else {
            return nil
        }
        return connection.receiveBuffer.take(index + end.count)
    }

    private static func lines(_ head: [UInt8]) -> [String] {
        head.dropLast(4).split(separator: 13).prefix(20).map { Escaped.phrase($0.drop { $0 == 10 }) }
    }
}

/// A client's handshake request that the server has not answered yet.
struct WebSocketOpening {
    var key: String
    var path: [UInt8]
    var span: SourceSpan
}
