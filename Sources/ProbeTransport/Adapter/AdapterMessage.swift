import ProbeBase

/// A message from an adapter to the harness.
enum AdapterMessage: Sendable, Equatable {
    case hello(AdapterHello)
    case done(id: Int, error: String?, port: UInt16?)
    case event(connection: Int, SubjectReport.Event)
    case accept(connection: Int, listener: Int)
    /// A message that also names the machine error that caused it, by the errno's name.
    indirect case withMachineError(AdapterMessage, String)

    /// The number of payload bytes that the message delivers.
    var payloadSize: Int {
        if case .withMachineError(let message, _) = self { return message.payloadSize }
        guard case .event(_, let event) = self else { return 0 }
        switch event {
        case .line(let bytes), .message(let bytes, _), .data(let bytes), .leftover(let bytes), .ping(let bytes),
            .pong(let bytes):
            return bytes.count
        default: return 0
        }
    }
}

/// The first message that an adapter sends.
struct AdapterHello: Sendable, Equatable {
    var name: String
    var version: String?
    /// The capabilities that `can` lists, and the assumed capabilities that `lacks` does not list.
    var capabilities: Set<TransportCapability>
    /// The framings that `can` lists; `nil` if `can` lists no framings.
    var framings: Set<TransportFraming>?
    /// The minor version of the adapter protocol; 0 if the field `minor` is missing. This implementation uses 4.
    var minor = AdapterHello.minorVersion
}

/// The reason why an adapter's line is invalid, as a noun phrase that follows "sent an invalid message:".
struct AdapterMessageError: Error, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
}

extension AdapterMessage {
    /// Parses one line of an adapter's output.
    init(line: Span<UInt8>) throws(AdapterMessageError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(line)
        } catch {
            throw AdapterMessageError("a line that is not JSON: \(error.text)")
        }
        guard case .object = value else { throw AdapterMessageError("\(value.kind) instead of an object") }
        guard let word = value["ev"]?.text else { throw AdapterMessageError("an object without `ev`") }
        self = try AdapterMessage(word, value)
        if mayNameMachineError, let fault = value["machine"]?.text { self = .withMachineError(self, fault) }
    }

    /// Whether the message reports a failed op, a failed connection attempt or the end of a connection. In other
    /// messages, `machine` is an unknown field.
    private var mayNameMachineError: Bool {
        switch self {
        case .done(_, let error, _): error != nil
        case .event(_, .stopped), .event(_, .lost), .event(_, .attemptFailed): true
        default: false
        }
    }

    private init(_ word: String, _ value: JSONValue) throws(AdapterMessageError) {
        switch word {
        case "hello": self = .hello(try AdapterHello(value))
        case "done":
            let port = try value["port"].map { (port) throws(AdapterMessageError) in
                guard let number = port.integer.flatMap(UInt16.init(exactly:)) else {
                    throw AdapterMessageError("`done` with an invalid `port`")
                }
                return number
            }
            self = .done(
                id: try value.number("id", in: word), error: try value.optionalText("error", in: word), port: port)
        case "accept":
            self = .accept(
                connection: try value.number("conn", in: word), listener: try value.number("listener", in: word))
        default:
            let event = try AdapterMessage.event(word, value)
            self = .event(connection: try value.number("conn", in: word), event)
        }
    }

    private static func event(_ word: String, _ value: JSONValue) throws(AdapterMessageError) -> SubjectReport.Event {
        switch word {
        case "start": return .started
        case "secured":
            guard let version = try value.optionalText("version", in: word).flatMap(TLSVersion.init) else {
                let known = TLSVersion.allCases.map(\.rawValue).joined(separator: " ")
                throw AdapterMessageError("`secured` without a valid `version`; valid versions: \(known)")
            }
            return .secured(version, protocol: try value.optionalBytes("alpn", in: word))
        case "line": return .line(try value.data(in: word))
        case "message":
            let kind = try value.optionalText("kind", in: word).map { (text) throws(AdapterMessageError) in
                guard let kind = WebSocketMessageKind(rawValue: text) else {
                    throw AdapterMessageError("`message` with a `kind` that is neither `text` nor `binary`")
                }
                return kind
            }
            return .message(try value.data(in: word), kind: kind)
        case "ping": return .ping(try value.data(in: word))
        case "pong": return .pong(try value.data(in: word))
        case "data": return .data(try value.data(in: word))
        case "half-closed": return .halfClosed
        case "discarded": return .discarded
        case "full": return .full
        case "drained": return .drained
        case "leftover": return .leftover(try value.data(in: word))
        case "lost":
            let reportsDropped = value["dropped"].map { !$0.isNull } ?? false
            let dropped = reportsDropped ? try value.number("dropped", in: word) : 0
            guard (0...1 << 40).contains(dropped) else {
                throw AdapterMessageError("`lost` with \(dropped) bytes dropped")
            }
            return .lost(
                try value.reason(in: word), dropped: dropped, detail: try value.optionalText("detail", in: word))
        case "attempt-failed":
            return .attemptFailed(try value.reason(in: word), detail: try value.optionalText("detail", in: word))
        case "sent":
            let count = try value.number("bytes", in: word)
            // The count is limited so that sums of counts can't overflow, whatever the adapter sends.
            guard (0...1 << 40).contains(count) else { throw AdapterMessageError("`sent` of \(count) bytes") }
            return .sent(count)
        case "stop":
            return .stopped(try value.reason(in: word), detail: try value.optionalText("detail", in: word))
        default: throw AdapterMessageError("an unknown event")
        }
    }

    /// Returns the message as an adapter writes it: one line of ASCII, including the line feed.
    func encoded() -> [UInt8] { AdapterMessage.line(members) }

    private var members: [JSONValue.Member] {
        var members: [JSONValue.Member]
        switch self {
        case .hello(let hello):
            members = [
                ("ev", .string("hello")), ("proto", .integer(AdapterHello.protocolVersion)),
                ("name", .string(hello.name)),
            ]
            if let version = hello.version { members.append(("version", .string(version))) }
            members.append(("minor", .integer(hello.minor)))
            let assumed = TransportCapability.assumed
            let words = TransportCapability.allCases
            let can = words.filter { hello.capabilities.contains($0) && !assumed.contains($0) }.map(\.rawValue)
            let framings = (hello.framings ?? []).words
            members.append(("can", .array((can + framings).map { .string($0) })))
            let lacks = words.filter { assumed.contains($0) && !hello.capabilities.contains($0) }
            if !lacks.isEmpty { members.append(("lacks", .array(lacks.map { .string($0.rawValue) }))) }
        case .done(let id, let error, let port):
            members = [("ev", .string("done")), ("id", .integer(id))]
            if let error { members.append(("error", .string(error))) }
            if let port { members.append(("port", .integer(Int(port)))) }
        case .accept(let connection, let listener):
            members = [
                ("ev", .string("accept")), ("conn", .integer(connection)), ("listener", .integer(listener)),
            ]
        case .event(let connection, let event):
            members = AdapterMessage.members(of: event) + [("conn", .integer(connection))]
        case .withMachineError(let message, let fault): members = message.members + [("machine", .string(fault))]
        }
        return members
    }

    /// Returns a JSON object with the given members as one line of ASCII, including the line feed.
    static func line(_ members: [JSONValue.Member]) -> [UInt8] {
        var line: [UInt8] = []
        JSONValue.object(members).append(to: &line, .ascii)
        line.append(10)
        return line
    }

    private static func members(of event: SubjectReport.Event) -> [JSONValue.Member] {
        switch event {
        case .started: return [("ev", .string("start"))]
        case .secured(let version, let name):
            let members: [JSONValue.Member] = [("ev", .string("secured")), ("version", .string(version.rawValue))]
            return name.map { members + [("alpn", .latin1($0))] } ?? members
        case .line(let bytes): return [("ev", .string("line")), ("data", .latin1(bytes))]
        case .message(let bytes, let kind):
            return [("ev", .string("message")), ("data", .latin1(bytes))]
                + (kind.map { [("kind", .string($0.rawValue))] } ?? [])
        case .ping(let bytes): return [("ev", .string("ping")), ("data", .latin1(bytes))]
        case .pong(let bytes): return [("ev", .string("pong")), ("data", .latin1(bytes))]
        case .data(let bytes): return [("ev", .string("data")), ("data", .latin1(bytes))]
        case .leftover(let bytes): return [("ev", .string("leftover")), ("data", .latin1(bytes))]
        case .halfClosed: return [("ev", .string("half-closed"))]
        case .discarded: return [("ev", .string("discarded"))]
        case .full: return [("ev", .string("full"))]
        case .drained: return [("ev", .string("drained"))]
        case .sent(let count): return [("ev", .string("sent")), ("bytes", .integer(count))]
        case .lost(let reason, let dropped, let detail):
            return [("ev", .string("lost"))] + members(of: reason, detail) + [("dropped", .integer(dropped))]
        case .attemptFailed(let reason, let detail):
            return [("ev", .string("attempt-failed"))] + members(of: reason, detail)
        case .stopped(let reason, let detail): return [("ev", .string("stop"))] + members(of: reason, detail)
        case .accepted, .output, .broken:
            // `accept` is a separate message, and an adapter never sends `output` or `broken`.
            return []
        }
    }

    private static func members(of reason: StopReason, _ detail: String?) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [("reason", .string(reason.word))]
        if case .closed(let code?) = reason { members.append(("code", .integer(Int(code)))) }
        return detail.map { members + [("detail", .string($0))] } ?? members
    }
}

extension AdapterHello {
    static let protocolVersion = 1
    static let minorVersion = 4
    /// The first minor version in which a message may name a machine error.
    static let machineVersion = 4
    /// The maximum length of a name, in bytes. It is limited because every report contains the name.
    private static let nameLimit = 200

    fileprivate init(_ value: JSONValue) throws(AdapterMessageError) {
        guard let version = value["proto"]?.integer else { throw AdapterMessageError("`hello` without `proto`") }
        guard version == AdapterHello.protocolVersion else {
            throw AdapterMessageError(
                "`hello` of protocol \(version), but only \(AdapterHello.protocolVersion) is supported")
        }
        var minor = 0
        if let field = value["minor"] {
            guard let number = field.integer, number >= 0 else {
                throw AdapterMessageError("`hello` with an invalid `minor`")
            }
            minor = number
        }
        guard let name = try value.optionalText("name", in: "hello"), !name.isEmpty,
            name.utf8.count <= AdapterHello.nameLimit,
            name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 && !(0x80..<0xa0).contains($0.value) })
        else { throw AdapterMessageError("`hello` without a `name` of 1 to \(AdapterHello.nameLimit) printable bytes") }
        guard let words = try value.words("can") else {
            throw AdapterMessageError("`hello` without a `can` list")
        }
        let framings = Set(words.compactMap(TransportFraming.init(offer:)))
        // Unknown words of an adapter that uses a later minor version are ignored.
        let allowsUnknown = minor > AdapterHello.minorVersion
        let can = try AdapterHello.capabilities(
            words.filter { TransportFraming(offer: $0) == nil }, of: "can", allowsUnknown: allowsUnknown)
        let lacks = try AdapterHello.capabilities(
            try value.words("lacks") ?? [], of: "lacks", allowsUnknown: allowsUnknown)
        let assumed = TransportCapability.assumed
        if let word = can.first(where: assumed.contains) {
            throw AdapterMessageError("`can` with `\(word.rawValue)`, which is assumed unless `lacks` names it")
        }
        if let word = lacks.first(where: { !assumed.contains($0) }) {
            throw AdapterMessageError("`lacks` with `\(word.rawValue)`, which is absent unless `can` lists it")
        }
        self.init(
            name: name, version: try value.optionalText("version", in: "hello"),
            capabilities: assumed.subtracting(lacks).union(can), framings: framings.isEmpty ? nil : framings,
            minor: minor)
    }

    private static func capabilities(
        _ words: [String], of list: String, allowsUnknown: Bool
    ) throws(AdapterMessageError) -> [TransportCapability] {
        let capabilities = words.map(TransportCapability.init(rawValue:))
        if !allowsUnknown, capabilities.contains(nil) {
            throw AdapterMessageError("`\(list)` with an unknown capability")
        }
        return capabilities.compactMap { $0 }
    }
}

extension JSONValue {
    /// Returns the words of the list with the given name in `hello`, in their order; `nil` if the list is missing.
    fileprivate func words(_ name: String) throws(AdapterMessageError) -> [String]? {
        guard let value = self[name] else { return nil }
        guard case .array(let words) = value else {
            throw AdapterMessageError("`hello` with \(value.kind) as `\(name)`")
        }
        return try words.map { word throws(AdapterMessageError) in
            guard let text = word.text else { throw AdapterMessageError("`\(name)` with \(word.kind) in it") }
            return text
        }
    }

    fileprivate func number(_ name: String, in word: String) throws(AdapterMessageError) -> Int {
        guard let number = self[name]?.integer else {
            throw AdapterMessageError("`\(word)` without the number `\(name)`")
        }
        return number
    }

    /// Returns the reason why a connection ended, or could not be established.
    fileprivate func reason(in word: String) throws(AdapterMessageError) -> StopReason {
        guard let text = try optionalText("reason", in: word) else {
            throw AdapterMessageError("`\(word)` without a `reason`")
        }
        guard let reason = StopReason(word: text) else {
            let known = StopReason.all.map(\.word).joined(separator: " ")
            throw AdapterMessageError("`\(word)` with an unknown `reason`; known reasons: \(known)")
        }
        guard case .closed = reason, let code = self["code"], !code.isNull else { return reason }
        guard let code = code.integer.flatMap(UInt16.init(exactly:)) else {
            throw AdapterMessageError("`\(word)` with an invalid `code`")
        }
        // WebSocket APIs report the code 1005 for a close frame without a code (RFC 6455, section 7.1.5).
        return .closed(code: code == WebSocketFrame.CloseCode.none ? nil : code)
    }

    fileprivate func optionalText(_ name: String, in word: String) throws(AdapterMessageError) -> String? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let text = value.text else { throw AdapterMessageError("`\(word)` with \(value.kind) as `\(name)`") }
        return text
    }

    /// Returns the field's bytes; `nil` if it is missing or empty.
    fileprivate func optionalBytes(_ name: String, in word: String) throws(AdapterMessageError) -> [UInt8]? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let bytes = value.latin1 else {
            throw AdapterMessageError("`\(word)` with `\(name)` that is not a string of U+0000 to U+00FF")
        }
        return bytes.isEmpty ? nil : bytes
    }

    fileprivate func data(in word: String) throws(AdapterMessageError) -> [UInt8] {
        guard let value = self["data"] else { throw AdapterMessageError("`\(word)` without `data`") }
        guard let bytes = value.latin1 else {
            throw AdapterMessageError("`\(word)` with `data` that is not a string of U+0000 to U+00FF")
        }
        return bytes
    }
}
