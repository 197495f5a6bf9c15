/// The path of a field in a protobuf message: field numbers from the outermost message inward, such as `3.1[0]`.
package struct ProtobufPath: Equatable, Sendable {
    package struct Part: Equatable, Sendable {
        package var number: Int
        /// The index in a repeated field, starting at 0; `nil` if the path contains no index.
        package var index: Int?

        package init(number: Int, index: Int? = nil) {
            self.number = number
            self.index = index
        }

        package var text: String { index.map { "\(number)[\($0)]" } ?? "\(number)" }
    }

    package var parts: [Part]

    package init(_ parts: [Part]) { self.parts = parts }

    /// The path as written in a script.
    package var text: String { parts.map(\.text).joined(separator: ".") }

    package enum Found: Equatable, Sendable {
        case varint(UInt64)
        case fixed(UInt64)
        /// The range of a length-delimited value; for a group, the range of the fields between its tags.
        case bytes(Range<Int>)
    }

    /// The reason why the message contains no value for the path.
    package enum Failure: Error, Equatable, Sendable {
        /// The message, or a message nested in it, is not valid protobuf. `within` names the field that contains the
        /// nested message.
        case malformed(within: String?, ProtobufReader.Problem)
        /// The field is missing. `others` contains the numbers of up to ten fields that are present.
        case missing(String, others: [Int])
        case missingIndex(String, count: Int)
        case repeated(String, count: Int)
        /// The path continues after a field that contains a number rather than a message.
        case noMessage(String)

        /// Whether the message exceeds a limit of this reader. Such a message may nevertheless be valid protobuf.
        package var isLimit: Bool {
            if case .malformed(_, let problem) = self { problem.kind == .tooDeep } else { false }
        }
    }

    /// Finds the field's value. Every message on the path is read to its end, so that truncation is detected.
    package func find(in message: Span<UInt8>) throws(Failure) -> Found {
        var range = 0..<message.count
        var outer: String?
        for (position, part) in parts.enumerated() {
            let name = (outer.map { $0 + "." } ?? "") + part.text
            let value = try Self.field(part, name, in: message, range, within: outer)
            let isLast = position == parts.count - 1
            switch value {
            case .varint(let value) where isLast: return .varint(value)
            case .fixed32(let value) where isLast: return .fixed(UInt64(value))
            case .fixed64(let value) where isLast: return .fixed(value)
            case .bytes(let inner), .group(let inner):
                if isLast { return .bytes(inner) }
                range = inner
                outer = name
            default: throw .noMessage(name)
            }
        }
        return .bytes(range)
    }

    private static func field(
        _ part: Part, _ name: String, in message: Span<UInt8>, _ range: Range<Int>, within outer: String?
    ) throws(Failure) -> ProtobufReader.Value {
        var reader = ProtobufReader(range)
        var (count, others): (Int, [Int]) = (0, [])
        var found: ProtobufReader.Value?
        while true {
            let field: ProtobufReader.Field?
            do throws(ProtobufReader.Problem) { field = try reader.next(in: message) } catch {
                var problem = error
                problem.offset -= range.lowerBound
                throw .malformed(within: outer, problem)
            }
            guard let field else { break }
            guard field.number == part.number else {
                if others.count < 10, !others.contains(field.number) { others.append(field.number) }
                continue
            }
            if count == part.index ?? 0 { found = field.value }
            count += 1
        }
        if count == 0 { throw .missing(name, others: others) }
        if part.index == nil, count > 1 { throw .repeated(name, count: count) }
        guard let found else { throw .missingIndex(name, count: count) }
        return found
    }
}

extension ProtobufPath.Failure {
    /// The failure as text on one line.
    package var text: String {
        switch self {
        case .malformed(let outer, let problem):
            "\(outer.map { "field \($0)" } ?? "the value") is not a valid protobuf message: \(problem.text) (field at byte \(problem.offset))"
        case .missing(let name, let others):
            others.isEmpty
                ? "there is no field \(name): the message is empty"
                : "there is no field \(name); the fields are \(others.map(String.init).joined(separator: ", "))"
        case .missingIndex(let name, let count):
            "there is no field \(name): the field occurs \(count == 1 ? "once" : "\(count) times")"
        case .repeated(let name, let count): "field \(name) occurs \(count) times"
        case .noMessage(let name): "field \(name) is a number, so it has no fields"
        }
    }

    package var hint: String? {
        switch self {
        case .repeated(let name, _): "select one occurrence, such as `\(name)[0]` for the first"
        case .missingIndex: "indices start at `[0]`"
        default: nil
        }
    }
}
