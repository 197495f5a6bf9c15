import ProbeBase

/// A message from the client (JSON-RPC 2.0).
enum ClientMessage: Sendable {
    case request(id: JSONValue, method: String, params: JSONValue)
    case notification(method: String, params: JSONValue)
    /// A response, which is ignored because the server sends no requests.
    case response
    /// A message that must be answered with an error.
    case malformed(id: JSONValue, ResponseError)

    init(_ bytes: [UInt8]) {
        let value: JSONValue
        do throws(JSONError) {
            // A client whose strings are UTF-16 may send half of a surrogate pair. If a change with such a half were
            // rejected, the server's text would differ from the editor's.
            value = try JSONParser.parse(bytes.span, replacesInvalid: true)
        } catch {
            self = .malformed(id: .null, ResponseError(.parseError, "the message is not valid JSON: \(error.text)"))
            return
        }
        guard case .object = value else {
            self = .malformed(
                id: .null, ResponseError(.invalidRequest, "a message must be an object, not \(value.kind)"))
            return
        }
        self.init(object: value)
    }

    private init(object: JSONValue) {
        let id = object["id"]
        let isID = id.map { if case .string = $0 { true } else { $0.kind == "a number" } } ?? false
        let answered: JSONValue = if isID, let id { id } else { .null }
        guard object["jsonrpc"]?.text == "2.0" else {
            self = .malformed(
                id: answered, ResponseError(.invalidRequest, "a message must contain `\"jsonrpc\": \"2.0\"`"))
            return
        }
        guard let member = object["method"] else {
            let isAnswer = object["result"] != nil || object["error"] != nil
            self =
                isAnswer
                ? .response : .malformed(id: answered, ResponseError(.invalidRequest, "a request must have a `method`"))
            return
        }
        guard let method = member.text else {
            self = .malformed(
                id: answered, ResponseError(.invalidRequest, "`method` must be a string, not \(member.kind)"))
            return
        }
        let params = object["params"] ?? .null
        guard let id else {
            self = .notification(method: method, params: params)
            return
        }
        self =
            isID
            ? .request(id: id, method: method, params: params)
            : .malformed(
                id: .null, ResponseError(.invalidRequest, "`id` must be a number or a string, not \(id.kind)"))
    }
}

/// An error response to a request.
struct ResponseError: Error, Sendable {
    enum Code: Int, Sendable {
        case parseError = -32700
        case invalidRequest = -32600
        case methodNotFound = -32601
        case invalidParams = -32602
        case notInitialized = -32002
        case cancelled = -32800
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Messages to the client.
enum ServerMessage {
    static func result(_ value: JSONValue, id: JSONValue) -> JSONValue {
        .object([("jsonrpc", .string("2.0")), ("id", id), ("result", value)])
    }

    static func error(_ error: ResponseError, id: JSONValue) -> JSONValue {
        .object([
            ("jsonrpc", .string("2.0")), ("id", id),
            ("error", .object([("code", .integer(error.code.rawValue)), ("message", .string(error.message))])),
        ])
    }

    static func notification(_ method: String, _ params: JSONValue) -> JSONValue {
        .object([("jsonrpc", .string("2.0")), ("method", .string(method)), ("params", params)])
    }

    /// Returns a key by which two message ids can be compared.
    static func key(of id: JSONValue) -> [UInt8] { id.encoded() }
}
