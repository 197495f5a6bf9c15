import ProbeBase

/// A request to an adapter: one op with its number and the number of its connection.
struct AdapterRequest: Sendable {
    var id: Int
    var connection: Int
    var operation: SubjectOperation

    /// The maximum size of a message to send, in bytes.
    static let messageLimit = 2 << 20

    /// Returns the request as one line of ASCII, including the line feed.
    func encoded() -> [UInt8] {
        let head: [JSONValue.Member] = [
            ("op", .string(operation.word)), ("id", .integer(id)), ("conn", .integer(connection)),
        ]
        return AdapterMessage.line(head + operation.arguments)
    }
}

/// The reason why a line is not a valid request.
struct AdapterRequestError: Error, Equatable {
    /// The reason why an op is refused, as the word for the `error` field of `done`.
    enum Refusal: String, Error {
        case invalid, unsupported
    }

    /// The op's number, if it could be read; in that case, the error is reported by `done`.
    var id: Int?
    var text: String
}

extension AdapterRequest {
    /// Parses a line of an adapter's stdin.
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
        do throws(AdapterRequestError.Refusal) {
            operation = try SubjectOperation(request: value)
        } catch {
            throw AdapterRequestError(id: id, text: error.rawValue)
        }
    }
}
