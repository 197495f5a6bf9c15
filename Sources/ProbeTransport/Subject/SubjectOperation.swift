package import ProbeBase
import ProbeSystem

/// The operations of the adapter protocol.
package enum SubjectOperation: Sendable {
    case connect(TransportConfiguration)
    case listen(TransportConfiguration)
    /// - Parameter as: with the framing `websocket`; nil with the others.
    case send([UInt8], as: WebSocketMessageKind? = nil)
    case ping([UInt8])
    /// - Parameter code: nil: without a payload.
    case close(code: UInt16?, reason: [UInt8])
    case plain(PlainOperation)
    /// - Parameter behind: when so many more messages were delivered; nil: at once.
    case framing(TransportFraming, behind: Int?)
    case read(TransportRead, timeout: Duration?)
    case startTLS(TransportTLS)
    case stop
}

// MARK: As JSON

extension SubjectOperation {
    /// Whether its answer says on which port it listens. A Unix socket has none.
    var wantsPort: Bool {
        if case .listen(let configuration) = self { configuration.path == nil } else { false }
    }

    /// The op's name in the protocol.
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

    /// Without what protocol 1.0 does not have in `connect` and `listen`.
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

    /// The members behind those that every op has.
    var arguments: [JSONValue.Member] {
        switch self {
        case .connect(let configuration), .listen(let configuration): return configuration.members
        case .send(let message, let kind):
            return [("data", .latin1(message))] + (kind.map { [("kind", .string($0.rawValue))] } ?? [])
        case .ping(let payload): return [("data", .latin1(payload))]
        case .close(let code, let reason):
            guard let code else { return [] }
            return [("code", .integer(Int(code))), ("reason", .latin1(reason))]
        case .framing(let framing, let count): return framing.members + (count.map { [("behind", .integer($0))] } ?? [])
        case .read(let request, let timeout):
            let wanted: JSONValue.Member =
                switch request {
                case .length(let length): ("length", .integer(length))
                case .until(let delimiter): ("until", .latin1(delimiter))
                case .any: ("any", .boolean(true))
                }
            return [wanted] + JSONValue.timeout("timeout-ms", timeout)
        case .startTLS(let tls): return [("tls", .object(tls.members))]
        case .plain, .stop: return []
        }
    }

    /// - Parameter request: as ``word`` and ``arguments`` write it.
    init(request: JSONValue) throws(AdapterRequestError.Refusal) {
        switch request["op"]?.text {
        case "connect": self = .connect(try TransportConfiguration(request: request))
        case "listen": self = .listen(try TransportConfiguration(request: request))
        case "send":
            guard let data = request["data"]?.latin1 else { throw .invalid }
            let kind = request["kind"]
            let known = kind?.text.flatMap(WebSocketMessageKind.init)
            if kind != nil, known == nil { throw .invalid }
            self = .send(data, as: known)
        case "ping":
            guard let data = (request["data"] ?? .string("")).latin1 else { throw .invalid }
            self = .ping(data)
        case "close":
            let code = request["code"]
            let known = code?.integer.flatMap(UInt16.init(exactly:))
            guard (code == nil) == (known == nil), let reason = (request["reason"] ?? .string("")).latin1 else {
                throw .invalid
            }
            self = .close(code: known, reason: reason)
        case "read":
            let timeout = request["timeout-ms"]?.integer.map { Duration.milliseconds($0) }
            if let length = request["length"]?.integer, length >= 0 {
                self = .read(.length(length), timeout: timeout)
            } else if let delimiter = request["until"]?.latin1, !delimiter.isEmpty {
                self = .read(.until(delimiter), timeout: timeout)
            } else if request["any"] != nil {
                self = .read(.any, timeout: timeout)
            } else {
                throw .invalid
            }
        case "framing":
            guard let framing = try TransportFraming(request: request) else { throw .invalid }
            let count = request["behind"]
            if let count, (count.integer ?? 0) < 1 { throw .invalid }
            self = .framing(framing, behind: count?.integer)
        case "start-tls":
            guard let tls = request["tls"] else { throw .invalid }
            self = .startTLS(try TransportTLS(tls))
        case "stop": self = .stop
        case let word:
            guard let operation = word.flatMap(PlainOperation.init) else { throw .unsupported }
            self = .plain(operation)
        }
    }
}

extension TransportFraming {
    fileprivate var members: [JSONValue.Member] {
        if case .delimiter(let bytes) = self {
            return [("framing", .string("delimiter")), ("delimiter", .latin1(bytes))]
        }
        return [("framing", .string(rawValue))]
    }

    /// Nil if the request has none.
    ///
    /// - Throws: `invalid` for one that there is none of.
    fileprivate init?(request: JSONValue) throws(AdapterRequestError.Refusal) {
        guard let word = request["framing"] else { return nil }
        let framing =
            word.text == "delimiter"
            ? request["delimiter"]?.latin1.flatMap(Framing.init(delimiter:))
            : word.text.flatMap(Framing.init(rawValue:))
        guard let framing else { throw .invalid }
        self = framing
    }
}

extension TransportConfiguration {
    fileprivate var members: [JSONValue.Member] {
        let place: [JSONValue.Member] =
            path.map { [("path", .string($0))] } ?? [("host", .string(host)), ("port", .integer(Int(port)))]
        let members = place + framing.members + [("max-line", .integer(maxLine))]
        return members + JSONValue.timeout("connect-timeout-ms", connectTimeout)
            + JSONValue.timeout("idle-timeout-ms", idleTimeout)
            + (requestPath == "/" ? [] : [("request-path", .string(requestPath))])
            + (heartbeat.map(\.members) ?? [])
            + JSONValue.timeout("reconnect-min-ms", reconnect?.shortest)
            + JSONValue.timeout("reconnect-max-ms", reconnect?.longest)
            + (parsesProtobuf ? [("protobuf", .boolean(true))] : [])
            + (reads ? [("reads", .boolean(true))] : [])
            + (allowsHalfClose ? [("allow-half-close", .boolean(true))] : [])
            + (discardsTooLong ? [("discard-too-long", .boolean(true))] : [])
            + (highWater.map { [("high-water", .integer($0))] } ?? [])
            + (localHost.map { [("local", .string($0))] } ?? [])
            + (localPort == 0 ? [] : [("local-port", .integer(Int(localPort)))])
            + (interface.map { [("interface", .string($0))] } ?? [])
            + (preference.map { [("prefer", .string($0.rawValue))] } ?? [])
            + (tls.map { [("tls", .object($0.members))] } ?? [])
    }

    /// - Throws: `invalid` if a required field is missing or has an invalid value.
    fileprivate init(request: JSONValue) throws(AdapterRequestError.Refusal) {
        if let word = request["path"] {
            guard let path = word.text, !path.isEmpty else { throw .invalid }
            self.init(host: "", port: 0)
            self.path = path
        } else {
            guard let host = request["host"]?.text,
                let port = (request["port"] ?? .integer(0)).integer.flatMap(UInt16.init(exactly:))
            else { throw .invalid }
            self.init(host: host, port: port)
        }
        if let framing = try TransportFraming(request: request) { self.framing = framing }
        if let limit = request["max-line"] {
            guard let limit = limit.integer, limit >= 0 else { throw .invalid }
            maxLine = limit
        }
        allowsHalfClose = try request.flag("allow-half-close")
        discardsTooLong = try request.flag("discard-too-long")
        reads = try request.flag("reads")
        parsesProtobuf = try request.flag("protobuf")
        if let mark = request["high-water"] {
            guard let mark = mark.integer, mark > 0 else { throw .invalid }
            highWater = mark
        }
        if let word = request["local"] {
            guard let host = word.text else { throw .invalid }
            localHost = host
        }
        if let word = request["local-port"] {
            guard let port = word.integer.flatMap(UInt16.init(exactly:)), port != 0, localHost != nil else {
                throw .invalid
            }
            localPort = port
        }
        if let word = request["interface"] {
            guard let name = word.text else { throw .invalid }
            interface = name
        }
        if let word = request["prefer"] {
            guard let family = word.text.flatMap(AddressPreference.init) else { throw .invalid }
            preference = family
        }
        if let word = request["request-path"] {
            guard let path = word.text, path.hasPrefix("/") else { throw .invalid }
            requestPath = path
        }
        heartbeat = try TransportHeartbeat(request: request)
        reconnect = try TransportReconnect(request: request)
        if let value = request["tls"] { tls = try TransportTLS(value) }
        connectTimeout = request["connect-timeout-ms"]?.integer.map { .milliseconds($0) }
        idleTimeout = request["idle-timeout-ms"]?.integer.map { .milliseconds($0) }
    }
}

extension TransportHeartbeat {
    fileprivate var members: [JSONValue.Member] {
        (interval == nil ? [] : [("heartbeat", .latin1(message))]) + JSONValue.timeout("heartbeat-ms", interval)
            + JSONValue.timeout("heartbeat-timeout-ms", timeout)
            + (answer.map { [("heartbeat-answer", .latin1($0))] } ?? [])
    }

    /// Nil if the request has none.
    fileprivate init?(request: JSONValue) throws(AdapterRequestError.Refusal) {
        let (word, answer) = (request["heartbeat"], request["heartbeat-answer"])
        let (interval, timeout) = (request["heartbeat-ms"]?.integer, request["heartbeat-timeout-ms"]?.integer)
        guard word != nil || answer != nil || interval != nil || timeout != nil else { return nil }
        guard (word == nil) == (interval == nil), interval ?? 1 > 0, timeout ?? 1 > 0,
            word == nil || word?.latin1 != nil, answer == nil || answer?.latin1 != nil
        else { throw .invalid }
        self.init(
            interval: interval.map { .milliseconds($0) }, message: word?.latin1 ?? [],
            timeout: timeout.map { .milliseconds($0) }, answer: answer?.latin1)
    }
}

extension TransportReconnect {
    /// Nil if the request has none.
    fileprivate init?(request: JSONValue) throws(AdapterRequestError.Refusal) {
        let (first, last) = (request["reconnect-min-ms"], request["reconnect-max-ms"])
        if first == nil && last == nil { return nil }
        guard let shortest = first?.integer, let longest = last?.integer, shortest > 0, longest >= shortest else {
            throw .invalid
        }
        self.init(shortest: .milliseconds(shortest), longest: .milliseconds(longest))
    }
}

extension JSONValue {
    /// False where there is none.
    fileprivate func flag(_ name: String) throws(AdapterRequestError.Refusal) -> Bool {
        guard let word = self[name] else { return false }
        guard case .boolean(let value) = word else { throw .invalid }
        return value
    }

    /// The member of a timeout; none where there is none.
    fileprivate static func timeout(_ name: String, _ duration: Duration?) -> [Member] {
        duration.map { [(name, .integer($0.milliseconds))] } ?? []
    }
}

extension Duration {
    /// Rounded up: a timeout of less than a millisecond is one millisecond.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        let (sum, overflowToo) = whole.addingReportingOverflow(
            Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
        return overflow || overflowToo ? .max : sum
    }
}

extension TransportConfiguration {
    /// The errors of the machine that a case may have provoked by where the connection goes to, or comes from.
    var provocable: Set<MachineError> {
        func isHere(_ host: String) -> Bool {
            host == "localhost" || SocketAddress(numeric: host, port: 0)?.isLoopback == true
        }
        let isFromHere = localHost.map(isHere) != false
        return MachineError.provocable(staysHere: (path != nil || isHere(host)) && isFromHere, isFromHere: isFromHere)
    }
}
