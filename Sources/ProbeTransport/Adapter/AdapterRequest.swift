import ProbeBase

/// An op for an adapter, in the terms of the adapter protocol.
struct AdapterRequest: Sendable {
    var id: Int
    var connection: Int
    var operation: SubjectOperation

    /// The maximum size of one message, in bytes.
    static let messageLimit = 2 << 20

    /// Returns the request as one line of ASCII, with its line feed.
    func encoded() -> [UInt8] {
        let head: [JSONValue.Member] = [
            ("op", .string(operation.word)), ("id", .integer(id)), ("conn", .integer(connection)),
        ]
        return AdapterMessage.line(head + operation.arguments)
    }
}

/// The reason why a line is not a valid request.
struct AdapterRequestError: Error, Equatable {
    /// The reason why an op is refused, in the words of its `done`.
    enum Refusal: String, Error {
        case invalid, unsupported
    }

    /// The op's number, if it could be read. If it is set, `done` reports the error.
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
        do throws(AdapterRequestError.Refusal) {
            operation = try SubjectOperation(request: value)
        } catch {
            throw AdapterRequestError(id: id, text: error.rawValue)
        }
    }
}
