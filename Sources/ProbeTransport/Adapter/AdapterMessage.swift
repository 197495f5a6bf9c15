import ProbeBase

/// Something that an adapter says.
enum AdapterMessage: Sendable, Equatable {
    case hello(AdapterHello)
    case done(id: Int, error: String?, port: UInt16?)
    case event(connection: Int, SubjectReport.Event)
    case accept(connection: Int, listener: Int)

    /// How many bytes it delivers.
    var payloadSize: Int {
        guard case .event(_, let event) = self else { return 0 }
        switch event {
        case .line(let bytes), .message(let bytes), .data(let bytes), .leftover(let bytes): return bytes.count
        default: return 0
        }
    }
}

/// How an adapter introduces itself.
struct AdapterHello: Sendable, Equatable {
    var name: String
    var version: String?
    var capabilities: Set<TransportCapability>
}

/// What is wrong with an adapter's line; one clause.
struct AdapterMessageError: Error, Equatable {
    var text: String

    init(_ text: String) { self.text = text }
}

extension AdapterMessage {
    /// Reads one line.
    init(line: Span<UInt8>) throws(AdapterMessageError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(line)
        } catch {
            throw AdapterMessageError("a line that is no JSON: \(error.text)")
        }
        guard case .object = value else { throw AdapterMessageError("\(value.kind) where an object was expected") }
        guard let word = value["ev"]?.text else { throw AdapterMessageError("an object without `ev`") }
        switch word {
        case "hello": self = .hello(try AdapterHello(value))
        case "done":
            let port = try value["port"].map { (port) throws(AdapterMessageError) in
                guard let number = port.integer.flatMap(UInt16.init(exactly:)) else {
                    throw AdapterMessageError("`done` with a `port` that is none")
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
        case "line": return .line(try value.data(in: word))
        case "message": return .message(try value.data(in: word))
        case "data": return .data(try value.data(in: word))
        case "leftover": return .leftover(try value.data(in: word))
        case "sent":
            let count = try value.number("bytes", in: word)
            // Sums of these must not overflow, whoever says them.
            guard (0...1 << 40).contains(count) else { throw AdapterMessageError("`sent` of \(count) bytes") }
            return .sent(count)
        case "stop":
            guard let text = try value.optionalText("reason", in: word) else {
                throw AdapterMessageError("`stop` without a `reason`")
            }
            guard let reason = StopReason(rawValue: text) else {
                let known = StopReason.allCases.map(\.rawValue).joined(separator: " ")
                throw AdapterMessageError("`stop` with an unknown `reason`; there is: \(known)")
            }
            return .stopped(reason, detail: try value.optionalText("detail", in: word))
        default: throw AdapterMessageError("an unknown event")
        }
    }

    /// As an adapter writes it: one line of ASCII with its line feed.
    func encoded() -> [UInt8] {
        var line = JSONLine()
        switch self {
        case .hello(let hello):
            line.add("ev", "hello")
            line.add("proto", AdapterHello.protocolVersion)
            line.add("name", hello.name)
            if let version = hello.version { line.add("version", version) }
            line.add("can", TransportCapability.allCases.filter(hello.capabilities.contains).map(\.rawValue))
        case .done(let id, let error, let port):
            line.add("ev", "done")
            line.add("id", id)
            if let error { line.add("error", error) }
            line.add("port", port.map(Int.init))
        case .accept(let connection, let listener):
            line.add("ev", "accept")
            line.add("conn", connection)
            line.add("listener", listener)
        case .event(let connection, let event):
            AdapterMessage.add(event, connection, to: &line)
        }
        return line.bytes
    }

    private static func add(_ event: SubjectReport.Event, _ connection: Int, to line: inout JSONLine) {
        switch event {
        case .started: line.add("ev", "start")
        case .line(let bytes):
            line.add("ev", "line")
            line.add("data", latin1: bytes)
        case .message(let bytes):
            line.add("ev", "message")
            line.add("data", latin1: bytes)
        case .data(let bytes):
            line.add("ev", "data")
            line.add("data", latin1: bytes)
        case .leftover(let bytes):
            line.add("ev", "leftover")
            line.add("data", latin1: bytes)
        case .sent(let count):
            line.add("ev", "sent")
            line.add("bytes", count)
        case .stopped(let reason, let detail):
            line.add("ev", "stop")
            line.add("reason", reason.rawValue)
            if let detail { line.add("detail", detail) }
        case .accepted, .output, .broken:
            // `accept` is a message of its own; the others are never said by an adapter.
            return
        }
        line.add("conn", connection)
    }
}

extension AdapterHello {
    static let protocolVersion = 1
    /// Longer names are refused: they stand in every report.
    private static let nameLimit = 200

    fileprivate init(_ value: JSONValue) throws(AdapterMessageError) {
        guard let version = value["proto"]?.integer else { throw AdapterMessageError("`hello` without `proto`") }
        guard version == AdapterHello.protocolVersion else {
            throw AdapterMessageError(
                "`hello` of protocol \(version), where \(AdapterHello.protocolVersion) is spoken here")
        }
        guard let name = try value.optionalText("name", in: "hello"), !name.isEmpty,
            name.utf8.count <= AdapterHello.nameLimit,
            name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 && !(0x80..<0xa0).contains($0.value) })
        else { throw AdapterMessageError("`hello` without a `name` of 1 to \(AdapterHello.nameLimit) printable bytes") }
        guard case .array(let words)? = value["can"] else {
            throw AdapterMessageError("`hello` without the list `can`")
        }
        var capabilities: Set<TransportCapability> = []
        for word in words {
            guard let text = word.text else { throw AdapterMessageError("`can` with \(word.kind) in it") }
            guard let capability = TransportCapability(rawValue: text) else {
                throw AdapterMessageError("`can` with a capability that there is none of")
            }
            capabilities.insert(capability)
        }
        self.init(name: name, version: try value.optionalText("version", in: "hello"), capabilities: capabilities)
    }
}

extension JSONValue {
    fileprivate func number(_ name: StaticString, in word: String) throws(AdapterMessageError) -> Int {
        guard let number = self[name]?.integer else {
            throw AdapterMessageError("`\(word)` without the number `\(name)`")
        }
        return number
    }

    fileprivate func optionalText(_ name: StaticString, in word: String) throws(AdapterMessageError) -> String? {
        guard let value = self[name], value != .null else { return nil }
        guard let text = value.text else { throw AdapterMessageError("`\(word)` with \(value.kind) as `\(name)`") }
        return text
    }

    fileprivate func data(in word: String) throws(AdapterMessageError) -> [UInt8] {
        guard let value = self["data"] else { throw AdapterMessageError("`\(word)` without `data`") }
        guard let bytes = value.latin1 else {
            throw AdapterMessageError("`\(word)` with `data` that is no string of U+0000 to U+00FF")
        }
        return bytes
    }
}
