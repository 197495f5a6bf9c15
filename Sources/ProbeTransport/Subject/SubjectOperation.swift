package import ProbeBase
import ProbeSystem

/// The operations of the adapter protocol.
package enum SubjectOperation: Sendable {
    case connect(TransportConfiguration)
    case listen(TransportConfiguration)
    /// - Parameter as: the kind of message with the framing `websocket`; `nil` with other framings.
    case send([UInt8], as: WebSocketMessageKind? = nil)
    case ping([UInt8])
    /// - Parameter code: the close code; `nil` for a close without a payload.
    case close(code: UInt16?, reason: [UInt8])
    case plain(PlainOperation)
    /// - Parameter behind: the number of messages to be delivered before the change; `nil` for an immediate change.
    case framing(TransportFraming, behind: Int?)
    case read(TransportRead, timeout: Duration?)
    case startTLS(TransportTLS)
    case stop
}

// MARK: As JSON

extension SubjectOperation {
    /// Whether the answer must contain the listener's port. A listener on a Unix socket has no port.
    var requiresPort: Bool {
        if case .listen(let configuration) = self { configuration.path == nil } else { false }
    }

    /// The operation's name (`op`) in the adapter protocol.
    var word: String {
        switch self {
        case .connect: "connect"
        case .listen: "listen"
        case .send: "send"
        case .ping: "ping"
        case .close: "close"
        case .plain(let operation): operation.rawValue
        case .framing: "framing"
        case .read: "read"
        case .startTLS: "start-tls"
        case .stop: "stop"
        }
    }

    /// The operation without the fields of `connect` and `listen` that version 1.0 of the adapter protocol lacks.
    var withoutReads: SubjectOperation {
        switch self {
        case .connect(var configuration):
            configuration.reads = false
            return .connect(configuration)
        case .listen(var configuration):
            configuration.reads = false
            return .listen(configuration)
        default: return self
        }
    }

    /// The members of the request that follow the members common to all operations.
    var arguments: [JSONValue.Member] {
        switch self {
        case .connect(let configuration), .listen(let configuration):
            return TransportConfiguration.codec.members(of: configuration)
        case .send(let message, let kind):
            return [("data", .latin1(message))] + (kind.map { [("kind", .string($0.rawValue))] } ?? [])
        case .ping(let payload): return [("data", .latin1(payload))]
        case .close(let code, let reason):
            guard let code else { return [] }
            return [("code", .integer(Int(code))), ("reason", .latin1(reason))]
        case .framing(let framing, let count):
            return Framing.codec.members(of: framing) + (count.map { [("behind", .integer($0))] } ?? [])
        case .read(let request, let timeout):
            let wanted: JSONValue.Member =
                switch request {
                case .length(let length): ("length", .integer(length))
                case .until(let delimiter): ("until", .latin1(delimiter))
                case .any: ("any", .boolean(true))
                }
            return [wanted] + (timeout.map { [("timeout-ms", JSONCodec.milliseconds.encode($0))] } ?? [])
        case .startTLS(let tls): return [("tls", TransportTLS.codec.encode(tls))]
        case .plain, .stop: return []
        }
    }

    /// Reads an operation from a request.
    ///
    /// - Parameter request: a request as written by ``word`` and ``arguments``.
    init(request: JSONValue) throws(AdapterRequestError.Refusal) {
        let operation: SubjectOperation?
        do throws(JSONContentError) { operation = try Self.operation(request) } catch { throw .invalid }
        guard let operation else { throw .unsupported }
        self = operation
    }

    /// Returns the operation; `nil` if no operation has the request's name.
    private static func operation(_ request: JSONValue) throws(JSONContentError) -> SubjectOperation? {
        switch request["op"]?.text {
        case "connect": return .connect(try TransportConfiguration.codec.decode(request))
        case "listen": return .listen(try TransportConfiguration.codec.decode(request))
        case "send": return .send(try request.required("data", .bytes), as: try request.optional("kind", .word))
        case "ping": return .ping(try request.optional("data", .bytes) ?? [])
        case "close":
            return .close(
                code: try request.optional("code", .integer), reason: try request.optional("reason", .bytes) ?? [])
        case "read":
            return .read(
                try read(request), timeout: try request.optional("timeout-ms", .milliseconds))
        case "framing":
            _ = try request.required("framing", .text)
            let count = try request.optional("behind", JSONCodec<Int>.integer(in: 1...Int.max))
            return .framing(try Framing.codec.decode(request), behind: count)
        case "start-tls": return .startTLS(try request.required("tls", TransportTLS.codec))
        case "stop": return .stop
        case let word: return word.flatMap(PlainOperation.init).map { .plain($0) }
        }
    }

    private static func read(_ request: JSONValue) throws(JSONContentError) -> TransportRead {
        if let length = try request.optional("length", JSONCodec<Int>.integer(in: 0...Int.max)) {
            return .length(length)
        }
        if let delimiter = try request.optional("until", .bytes), !delimiter.isEmpty { return .until(delimiter) }
        if request["any"] == nil { throw JSONContentError("`length`, `until` or `any` is missing") }
        return .any
    }
}

extension TransportFraming {
    /// The codec of a framing. If the member `framing` is missing, the framing is `crlf`.
    fileprivate static let codec = JSONCodec<Self>("a framing") { framing in
        if case .delimiter(let bytes) = framing {
            return .object([("framing", .string("delimiter")), ("delimiter", .latin1(bytes))])
        }
        return .object([("framing", .string(framing.rawValue))])
    } decode: { (value, _) throws(JSONContentError) in
        guard let word = try value.optional("framing", .text) else { return .crlf }
        return word == "delimiter"
            ? Framing(delimiter: try value.required("delimiter", .bytes)) : Framing(rawValue: word)
    }
}

extension TransportConfiguration {
    fileprivate static let codec = JSONCodec<Self>("a configuration", encode: fields.encode) {
        (value, _) throws(JSONContentError) in
        let configuration = try fields.decode(value)
        return configuration.localPort == 0 || configuration.localHost != nil ? configuration : nil
    }

    private static let fields = JSONCodec.object(
        TransportConfiguration(host: "", port: 0),
        [
            place, .part(\.framing, Framing.codec), .defaulted("max-line", \.maxLine, .integer(in: 0...Int.max)),
            .optional("connect-timeout-ms", \.connectTimeout, .milliseconds),
            .optional("idle-timeout-ms", \.idleTimeout, .milliseconds),
            .defaulted("request-path", \.requestPath, requestPath, isOmitted: { $0 == "/" }),
            .optionalPart(
                \.heartbeat, TransportHeartbeat.codec,
                named: "heartbeat", "heartbeat-ms", "heartbeat-timeout-ms", "heartbeat-answer"),
            .optionalPart(
                \.reconnect, TransportReconnect.codec, named: "reconnect-min-ms", "reconnect-max-ms"),
            .mark("protobuf", \.parsesProtobuf), .mark("reads", \.reads),
            .mark("allow-half-close", \.allowsHalfClose), .mark("discard-too-long", \.discardsTooLong),
            .optional("high-water", \.highWater, .integer(in: 1...Int.max)),
            .optional("local", \.localHost, .text),
            .defaulted("local-port", \.localPort, .integer(in: 1...65535), isOmitted: { $0 == 0 }),
            .optional("interface", \.interface, .text), .optional("prefer", \.preference, .word),
            .optional("tls", \.tls, TransportTLS.codec),
        ])

    /// The path of a Unix socket, or a host and a port.
    private static let place = JSONField<Self> { configuration, members in
        if let path = configuration.path {
            members.append(("path", .string(path)))
        } else {
            members += [("host", .string(configuration.host)), ("port", .integer(Int(configuration.port)))]
        }
    } decode: { (value, configuration) throws(JSONContentError) in
        configuration.path = try value.optional("path", .nonEmptyText)
        if configuration.path != nil { return }
        configuration.host = try value.required("host", .text)
        configuration.port = try value.optional("port", .integer) ?? 0
    }

    private static let requestPath = JSONCodec<String>("a path", encode: { .string($0) }) { value, _ in
        value.text.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}

extension TransportHeartbeat {
    fileprivate static let codec = JSONCodec<Self>("a heartbeat", encode: fields.encode) {
        (value, _) throws(JSONContentError) in
        let heartbeat = try fields.decode(value)
        // A heartbeat has both a message and an interval, or neither.
        return (value["heartbeat"] == nil) == (heartbeat.interval == nil) ? heartbeat : nil
    }

    private static let fields = JSONCodec.object(
        TransportHeartbeat(),
        [
            message, .optional("heartbeat-ms", \.interval, .positiveMilliseconds),
            .optional("heartbeat-timeout-ms", \.timeout, .positiveMilliseconds),
            .optional("heartbeat-answer", \.answer, .bytes),
        ])

    private static let message = JSONField<Self> { heartbeat, members in
        if heartbeat.interval != nil { members.append(("heartbeat", .latin1(heartbeat.message))) }
    } decode: { (value, heartbeat) throws(JSONContentError) in
        heartbeat.message = try value.optional("heartbeat", .bytes) ?? []
    }
}

extension TransportReconnect {
    fileprivate static let codec = JSONCodec<Self>("reconnection settings", encode: fields.encode) {
        (value, _) throws(JSONContentError) in
        let reconnect = try fields.decode(value)
        return reconnect.longest >= reconnect.shortest ? reconnect : nil
    }

    private static let fields = JSONCodec.object(
        TransportReconnect(shortest: .zero, longest: .zero),
        [
            .required("reconnect-min-ms", \.shortest, .positiveMilliseconds),
            .required("reconnect-max-ms", \.longest, .positiveMilliseconds),
        ])
}

extension JSONCodec<String> {
    static let nonEmptyText = JSONCodec("a non-empty string", encode: { .string($0) }) { value, _ in
        value.text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension JSONCodec<Duration> {
    fileprivate static let milliseconds = JSONCodec("a whole number", encode: { .integer($0.milliseconds) }) {
        value, _ in value.integer.map { .milliseconds($0) }
    }

    fileprivate static let positiveMilliseconds = JSONCodec(
        "a whole number above 0", encode: { .integer($0.milliseconds) }
    ) { value, _ in
        value.integer.flatMap { $0 > 0 ? .milliseconds($0) : nil }
    }
}

extension Duration {
    /// The number of milliseconds, rounded up so that a timeout of less than a millisecond does not become 0.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        let (sum, overflowToo) = whole.addingReportingOverflow(
            Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
        return overflow || overflowToo ? .max : sum
    }
}

extension TransportConfiguration {
    /// The machine errors that a case may have provoked by its choice of addresses for the connection's two ends.
    var provocable: Set<MachineError> {
        func isHere(_ host: String) -> Bool {
            host == "localhost" || SocketAddress(numeric: host, port: 0)?.isLoopback == true
        }
        let isFromHere = localHost.map(isHere) != false
        return MachineError.provocable(staysHere: (path != nil || isHere(host)) && isFromHere, isFromHere: isFromHere)
    }
}
