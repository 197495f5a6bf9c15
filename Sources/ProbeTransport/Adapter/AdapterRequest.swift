import ProbeBase

/// An op for an adapter, in the terms of the adapter protocol.
struct AdapterRequest: Sendable {
    var id: Int
    var connection: Int
    var operation: SubjectOperation

    /// The most bytes of one message.
    static let messageLimit = 2 << 20

    /// The op's name in the protocol.
    var name: String {
        switch operation {
        case .connect: "connect"
        case .listen: "listen"
        case .send: "send"
        case .halfClose: "half-close"
        case .stopReading: "stop-reading"
        case .resumeReading: "resume-reading"
        case .read: "read"
        case .stop: "stop"
        }
    }

    /// One line of ASCII with its line feed.
    func encoded() -> [UInt8] {
        var members: [JSONValue.Member] = [
            ("op", .string(name)), ("id", .integer(id)), ("conn", .integer(connection)),
        ]
        func add(_ name: String, _ duration: Duration?) {
            if let duration { members.append((name, .integer(duration.milliseconds))) }
        }
        switch operation {
        case .connect(let configuration), .listen(let configuration):
            members += [
                ("host", .string(configuration.host)), ("port", .integer(Int(configuration.port))),
                ("framing", .string(configuration.framing.rawValue)), ("max-line", .integer(configuration.maxLine)),
            ]
            add("connect-timeout-ms", configuration.connectTimeout)
            add("idle-timeout-ms", configuration.idleTimeout)
        case .send(let message): members.append(("data", .latin1(message)))
        case .read(let request, let timeout):
            switch request {
            case .length(let length): members.append(("length", .integer(length)))
            case .until(let delimiter): members.append(("until", .latin1(delimiter)))
            case .any: members.append(("any", .boolean(true)))
            }
            add("timeout-ms", timeout)
        case .halfClose, .stopReading, .resumeReading, .stop: break
        }
        return AdapterMessage.line(members)
    }
}

/// Why a line is no valid request.
struct AdapterRequestError: Error, Equatable {
    /// The op's number, if it could be read: then `done` reports the error.
    var id: Int?
    var text: String
}

extension AdapterRequest {
    /// Parses a line, as an adapter must.
    init(line: Span<UInt8>) throws(AdapterRequestError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(line)
        } catch {
            throw AdapterRequestError(id: nil, text: "not JSON: \(error.text)")
        }
        guard let id = value["id"]?.integer else { throw AdapterRequestError(id: nil, text: "an op without an id") }
        guard let connection = value["conn"]?.integer else {
            throw AdapterRequestError(id: id, text: "an op without a conn")
        }
        self.id = id
        self.connection = connection
        func refused(_ text: String) -> AdapterRequestError { AdapterRequestError(id: id, text: text) }
        switch value["op"]?.text {
        case "connect":
            guard let configuration = TransportConfiguration(request: value) else { throw refused("invalid") }
            operation = .connect(configuration)
        case "listen":
            guard let configuration = TransportConfiguration(request: value) else { throw refused("invalid") }
            operation = .listen(configuration)
        case "send":
            guard let data = value["data"]?.latin1 else { throw refused("invalid") }
            operation = .send(data)
        case "half-close": operation = .halfClose
        case "stop-reading": operation = .stopReading
        case "resume-reading": operation = .resumeReading
        case "stop": operation = .stop
        case "read":
            let timeout = value["timeout-ms"]?.integer.map { Duration.milliseconds($0) }
            if let length = value["length"]?.integer, length >= 0 {
                operation = .read(.length(length), timeout: timeout)
            } else if let delimiter = value["until"]?.latin1, !delimiter.isEmpty {
                operation = .read(.until(delimiter), timeout: timeout)
            } else if value["any"] != nil {
                operation = .read(.any, timeout: timeout)
            } else {
                throw refused("invalid")
            }
        default: throw refused("unsupported")
        }
    }
}

extension TransportConfiguration {
    /// Nil if a required field is missing or has an invalid value.
    fileprivate init?(request: JSONValue) {
        guard let host = request["host"]?.text,
            let port = (request["port"] ?? .integer(0)).integer.flatMap(UInt16.init(exactly:))
        else { return nil }
        self.init(host: host, port: port)
        if let word = request["framing"] {
            guard let framing = word.text.flatMap(Framing.init) else { return nil }
            self.framing = framing
        }
        if let limit = request["max-line"] {
            guard let limit = limit.integer, limit >= 0 else { return nil }
            maxLine = limit
        }
        connectTimeout = request["connect-timeout-ms"]?.integer.map { .milliseconds($0) }
        idleTimeout = request["idle-timeout-ms"]?.integer.map { .milliseconds($0) }
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
