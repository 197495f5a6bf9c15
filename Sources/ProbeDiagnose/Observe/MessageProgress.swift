import ProbeBase

/// Follows the messages in one direction of a flow, as far as their framing is known: TLS records (RFC 8446, section
/// 5.1; RFC 5246, section 6.2) and HTTP/1 messages (RFC 9112).
///
/// Only the boundaries of messages are tracked, in constant memory. If bytes are missing, or if the data is neither TLS
/// nor HTTP, the boundaries in the rest of the stream are unknown.
struct MessageProgress: Sendable {
    enum Kind: Sendable {
        case undecided, tls, http, unknown
    }

    private(set) var kind = Kind.undecided
    private(set) var tls = TLSProgress()
    private(set) var http = HTTPProgress()

    /// The first bytes of the stream, which are kept until they identify the protocol.
    private var opening: [UInt8] = []

    /// Reads the next bytes of the stream.
    mutating func read(_ bytes: Span<UInt8>, from side: ConversationSide, packet: Int) {
        guard kind == .undecided else { return take(bytes, from: side, packet: packet) }
        for index in 0..<min(bytes.count, Self.longestOpening) { opening.append(bytes[index]) }
        kind = Self.recognize(opening.span, side)
        guard kind != .undecided else { return }
        let known = opening.count - min(bytes.count, Self.longestOpening)
        let start = opening
        opening = []
        take(start.span.extracting(0..<known), from: side, packet: packet)
        take(bytes, from: side, packet: packet)
    }

    private mutating func take(_ bytes: Span<UInt8>, from side: ConversationSide, packet: Int) {
        switch kind {
        case .tls: if !tls.read(bytes, packet: packet) { kind = .unknown }
        case .http: if !http.read(bytes, isRequest: side == .client) { kind = .unknown }
        case .undecided, .unknown: break
        }
    }

    /// Stops following messages, because bytes of the stream are missing and the message boundaries are no longer
    /// known.
    mutating func lose() { kind = .unknown }

    /// Skips the body that the head of an HTTP answer announces, because the body is not sent.
    mutating func skipBody() { http.skipBody() }

    /// Whether a message has begun but is not complete; `false` if the framing is unknown.
    var isIncomplete: Bool {
        switch kind {
        case .tls: tls.isInsideRecord
        case .http: http.isIncomplete
        case .undecided, .unknown: false
        }
    }

    private static let longestOpening = 12

    private static func recognize(_ bytes: Span<UInt8>, _ side: ConversationSide) -> Kind {
        if let type = bytes.byte(at: 0), 20...23 ~= type {
            guard bytes.count >= 6 else { return .undecided }
            // A connection begins with a hello, or with an alert that rejects it.
            let length = Int(bytes.big16(at: 3) ?? 0)
            let isHello = type == 22 && 4...18_432 ~= length && 1...2 ~= bytes.byte(at: 5) ?? 0
            let isAlert = type == 21 && length == 2
            return bytes.byte(at: 1) == 3 && bytes.byte(at: 2) ?? 9 <= 4 && (isHello || isAlert) ? .tls : .unknown
        }
        let beginnings = side == .client ? HTTPProgress.methods : ["HTTP/1."]
        for text in beginnings where text.utf8.elementsEqual((0..<min(bytes.count, text.utf8.count)).map { bytes[$0] })
        {
            return .http
        }
        let isBeginning = beginnings.contains { text in
            bytes.count < text.utf8.count
                && text.utf8.prefix(bytes.count).elementsEqual((0..<bytes.count).map { bytes[$0] })
        }
        return isBeginning ? .undecided : .unknown
    }
}

/// The records of one direction of a TLS connection.
struct TLSProgress: Sendable {
    struct Alert: Sendable {
        var packet: Int
        /// Whether the alert is fatal, and its code; `nil` if the alert is encrypted.
        var content: (isFatal: Bool, description: UInt8)?
    }

    private var header: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
    private var headerCount = 0
    private var remaining = 0
    private var bodyStart: (UInt8, UInt8) = (0, 0)
    private var bodyCount = 0
    /// Whether the sender has announced that its further records are encrypted.
    private var isEncrypted = false
    /// The type and the length of the last record that began.
    private(set) var lastType: UInt8 = 0
    private(set) var lastLength = 0
    private(set) var recordCount = 0
    /// Whether a record with application data was sent. In TLS 1.3, a record with an encrypted handshake message looks
    /// the same.
    private(set) var hasApplicationData = false
    private(set) var hasHello = false
    private(set) var hasFinished = false
    private(set) var alert: Alert?

    /// Whether a record has begun but is not complete.
    var isInsideRecord: Bool { remaining > 0 || headerCount > 0 }

    /// Reads the next bytes of the stream. Returns `false` if they can't be TLS records.
    mutating func read(_ bytes: Span<UInt8>, packet: Int) -> Bool {
        var offset = 0
        while offset < bytes.count {
            if remaining == 0 {
                guard let byte = bytes.byte(at: offset) else { return true }
                switch headerCount {
                case 0: header.0 = byte
                case 1: header.1 = byte
                case 2: header.2 = byte
                case 3: header.3 = byte
                default: header.4 = byte
                }
                headerCount += 1
                offset += 1
                guard headerCount == 5 else { continue }
                guard 20...24 ~= header.0, header.1 == 3 else { return false }
                begin(type: header.0, length: Int(header.3) << 8 | Int(header.4))
                if remaining > 18_432 { return false }
                if remaining == 0 { headerCount = 0 }
            } else {
                let length = min(remaining, bytes.count - offset)
                if bodyCount < 2 {
                    if bodyCount == 0 { bodyStart.0 = bytes.byte(at: offset) ?? 0 }
                    if bodyCount + length >= 2 { bodyStart.1 = bytes.byte(at: offset + 1 - bodyCount) ?? 0 }
                    bodyCount += length
                }
                offset += length
                remaining -= length
                if remaining == 0 { complete(packet) }
            }
        }
        return true
    }

    private mutating func begin(type: UInt8, length: Int) {
        lastType = type
        lastLength = length
        remaining = length
        bodyCount = 0
        recordCount += 1
    }

    private mutating func complete(_ packet: Int) {
        headerCount = 0
        switch lastType {
        case 20: isEncrypted = true
        case 21:
            let isPlain = !isEncrypted && lastLength == 2
            let content = isPlain ? (isFatal: bodyStart.0 == 2, description: bodyStart.1) : nil
            // A `close_notify` must not hide an earlier alert.
            if alert?.content == nil || alert?.content?.description == 0 {
                alert = Alert(packet: packet, content: content)
            }
        case 22:
            if !isEncrypted, bodyStart.0 == 1 || bodyStart.0 == 2 { hasHello = true }
            if isEncrypted { hasFinished = true }
        case 23: hasApplicationData = true
        default: break
        }
    }

    /// Returns whether a TLS handshake has begun but is not complete. After the client's hello, the server's encrypted
    /// handshake messages may look like application data, so only the client's application data shows that the handshake
    /// is complete. If the records of a side can't be followed, the result is `false`.
    static func isHandshaking(_ client: MessageProgress, _ server: MessageProgress) -> Bool {
        guard client.kind == .tls, client.tls.hasHello, server.kind == .tls || server.kind == .undecided else {
            return false
        }
        return !client.tls.hasApplicationData && !(client.tls.hasFinished && server.tls.hasFinished)
    }

    /// Whether the last record may be a `close_notify` alert. In TLS 1.3, the record's type is encrypted, but its
    /// length is not.
    var mayHaveCloseNotify: Bool {
        if let alert { return alert.content.map { $0.description == 0 } ?? true }
        return lastType == 23 && lastLength <= 2 + 1 + 16 + 8
    }

    /// Returns the name of an alert as the RFCs write it.
    static func name(_ description: UInt8) -> String {
        TLSAlert.names[description]?.replacing("-", with: "_") ?? "alert \(description)"
    }
}

/// The HTTP/1 messages in one direction of a connection.
struct HTTPProgress: Sendable {
    private enum State: Sendable {
        case between, head, body
        /// `chunkSize` is the line with the size of a chunk, `chunk` is the data of the chunk, and `trailer` is the
        /// fields after the last chunk (RFC 9112, section 7.1).
        case chunkSize, chunk, trailer
        /// The message ends when the connection is closed, or its length can't be determined.
        case open
    }

    private var state = State.between
    private var line: [UInt8] = []
    private var lineCount = 0
    private var isFirstLine = true
    private var remaining: Int64 = 0
    private var announced: Int64?
    private var isChunked = false
    /// Whether the length of the message can't be determined from its head.
    private var isOpenEnded = false
    /// Whether the server has switched to another protocol, such as WebSocket.
    private(set) var isTunnel = false
    private var hasNoBody = false
    /// Whether the last request is a HEAD request, whose answer has no body.
    private(set) var isHead = false

    /// Whether a message has begun but is not complete.
    var isIncomplete: Bool {
        switch state {
        case .between, .open: false
        case .head, .body, .chunkSize, .chunk, .trailer: true
        }
    }

    /// The number of bytes that are missing from the announced body of the current message; `nil` if no such body is
    /// being read.
    var missing: Int64? { state == .body ? remaining : nil }

    private static let longestLine = 256

    /// Reads the next bytes of the stream. Returns `false` if they can't be HTTP.
    mutating func read(_ bytes: Span<UInt8>, isRequest: Bool) -> Bool {
        var offset = 0
        while offset < bytes.count {
            switch state {
            case .open: return true
            case .body:
                let length = min(remaining, Int64(bytes.count - offset))
                remaining -= length
                offset += Int(length)
                if remaining == 0 { state = .between }
            case .chunk:
                let length = min(remaining, Int64(bytes.count - offset))
                remaining -= length
                offset += Int(length)
                if remaining == 0 { state = .chunkSize }
            case .chunkSize, .trailer:
                guard let byte = bytes.byte(at: offset) else { return true }
                offset += 1
                if !takeChunkByte(byte) { return false }
            case .between, .head:
                guard let byte = bytes.byte(at: offset) else { return true }
                offset += 1
                if state == .between {
                    if byte == 13 || byte == 10 { continue }
                    begin()
                }
                lineCount += 1
                if byte != 10 {
                    if line.count < Self.longestLine { line.append(byte) }
                    continue
                }
                if line.last == 13 { line.removeLast() }
                if isFirstLine, !takeFirstLine(isRequest: isRequest) { return false }
                if line.isEmpty, !isFirstLine { endHead(isRequest: isRequest) } else if !isFirstLine { takeField() }
                isFirstLine = false
                line.removeAll(keepingCapacity: true)
            }
        }
        return true
    }

    /// Reads a byte of a chunk's size or of the fields after the last chunk.
    private mutating func takeChunkByte(_ byte: UInt8) -> Bool {
        if byte != 10 {
            if line.count < Self.longestLine { line.append(byte) }
            return true
        }
        if line.last == 13 { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true) }
        if state == .trailer {
            if line.isEmpty { state = .between }
            return true
        }
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
        guard let size = Int64(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0, size < 1 << 60 else {
            return false
        }
        // The data of a chunk is followed by CRLF.
        remaining = size + 2
        state = size == 0 ? .trailer : .chunk
        return true
    }

    private mutating func begin() {
        state = .head
        isFirstLine = true
        announced = nil
        isChunked = false
        isOpenEnded = false
        hasNoBody = false
        line.removeAll(keepingCapacity: true)
    }

    private mutating func takeFirstLine(isRequest: Bool) -> Bool {
        if isRequest {
            guard Self.methods.contains(where: { line.starts(with: $0.utf8) }) else { return false }
            guard String(decoding: line, as: UTF8.self).contains(" HTTP/1.") else { return false }
            // What follows CONNECT is not HTTP.
            isOpenEnded = line.starts(with: "CONNECT ".utf8)
            isHead = line.starts(with: "HEAD ".utf8)
            return true
        }
        guard line.starts(with: "HTTP/1.".utf8) else { return false }
        let status = line.dropFirst(9).prefix(3)
        if status.elementsEqual("101".utf8) { isTunnel = true }
        hasNoBody =
            status.first == UInt8(ascii: "1") || status.elementsEqual("204".utf8) || status.elementsEqual("304".utf8)
        return true
    }

    private mutating func takeField() {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        if name == "content-length" {
            announced = Int64(String(decoding: line[(colon + 1)...], as: UTF8.self).filter { $0 != " " })
        }
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self).lowercased()
        if name == "transfer-encoding", value.contains("chunked") { isChunked = true }
        // The body of a request that expects `100-continue` is not sent if the server rejects the request.
        if name == "upgrade" || (name == "expect" && value.contains("100-continue")) { isOpenEnded = true }
    }

    private mutating func endHead(isRequest: Bool) {
        remaining = announced.map { max(0, $0) } ?? 0
        if hasNoBody { remaining = 0 }
        if isOpenEnded || (!isRequest && announced == nil && !isChunked && !hasNoBody) {
            state = .open
        } else if isChunked, !hasNoBody {
            state = .chunkSize
        } else {
            state = remaining > 0 ? .body : .between
        }
    }

    /// Skips the body that the head announces, because the answer to a HEAD request has no body.
    mutating func skipBody() {
        if state == .body || state == .chunkSize { state = .between }
        remaining = 0
    }

    /// The methods with which a request begins, each followed by a space.
    static let methods = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ", "TRACE ",
    ]
}
