/// The reason why the content of a JSON value is not valid. The description is a clause in which quoted values are
/// escaped.
package struct JSONContentError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Writes the values of a type as JSON, and reads them. A single declaration describes both reading and writing.
package struct JSONCodec<Value>: Sendable {
    package typealias Encode = @Sendable (Value) -> JSONValue
    /// Reads a value; returns `nil` if the JSON value is of the wrong kind. The second argument is the member's name,
    /// for messages.
    package typealias Decode = @Sendable (JSONValue, String) throws(JSONContentError) -> Value?

    /// The required kind of JSON value, for use in messages, such as `a string`.
    fileprivate let kind: String
    private let encoding: Encode
    private let decoding: Decode

    package init(_ kind: String, encode: @escaping Encode, decode: @escaping Decode) {
        (self.kind, encoding, decoding) = (kind, encode, decode)
    }

    package func encode(_ value: Value) -> JSONValue { encoding(value) }

    /// Returns the members of the object that represents a value.
    package func members(of value: Value) -> [JSONValue.Member] {
        guard case .object(let members) = encoding(value) else { return [] }
        return members
    }

    package func decode(_ value: JSONValue) throws(JSONContentError) -> Value {
        guard let decoded = try decoding(value, kind) else {
            throw JSONContentError("expected \(kind), found \(value.kind)")
        }
        return decoded
    }

    /// Reads a value from JSON.
    ///
    /// - Parameter name: the name of the member whose value is read.
    fileprivate func decode(_ value: JSONValue, of name: String) throws(JSONContentError) -> Value {
        guard let decoded = try decoding(value, name) else {
            throw JSONContentError("`\(name)` must be \(kind), not \(value.kind)")
        }
        return decoded
    }
}

/// A type with a single JSON representation.
package protocol JSONConvertible {
    static var codec: JSONCodec<Self> { get }
}

extension JSONConvertible {
    package var json: JSONValue { Self.codec.encode(self) }

    /// Creates the value from JSON; `nil` if the JSON value is invalid.
    package init?(json: JSONValue) {
        do throws(JSONContentError) { self = try Self.codec.decode(json) } catch { return nil }
    }
}

// MARK: - Members

extension JSONValue {
    /// Returns the value of a member; `nil` if the member is missing or null.
    private func present(_ name: String) -> JSONValue? { self[name].flatMap { $0.isNull ? nil : $0 } }

    package func required<Value>(_ name: String, _ codec: JSONCodec<Value>) throws(JSONContentError) -> Value {
        guard let value = present(name) else {
            throw JSONContentError("`\(name)` is missing; it must be \(codec.kind)")
        }
        return try codec.decode(value, of: name)
    }

    /// Returns the decoded value of a member; `nil` if the member is missing or null.
    package func optional<Value>(_ name: String, _ codec: JSONCodec<Value>) throws(JSONContentError) -> Value? {
        guard let value = present(name) else { return nil }
        return try codec.decode(value, of: name)
    }
}

// MARK: - Kinds of values

extension JSONCodec<JSONValue> {
    package static let any = JSONCodec("a value", encode: { $0 }, decode: { value, _ in value })

    package static let anyObject = JSONCodec("an object", encode: { $0 }) { value, _ in
        if case .object = value { value } else { nil }
    }
}

extension JSONCodec<String> {
    package static let text = JSONCodec("a string", encode: { .string($0) }, decode: { value, _ in value.text })
}

extension JSONCodec<Bool> {
    package static let flag = JSONCodec("true or false", encode: { .boolean($0) }) { value, _ in
        if case .boolean(let flag) = value { flag } else { nil }
    }
}

extension JSONCodec<Double> {
    package static let number = JSONCodec("a number", encode: { .number($0) }) { value, _ in
        switch value {
        case .number(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
}

extension JSONCodec<[UInt8]> {
    /// Bytes, represented by a string of the characters U+0000 to U+00FF, one for each byte.
    package static let bytes = JSONCodec(
        "a string of characters up to U+00FF, one per byte", encode: { .latin1($0) },
        decode: { value, _ in value.latin1 }
    )
}

extension JSONCodec<[String]> {
    package static let texts = JSONCodec("an array", encode: { .array($0.map(JSONValue.string)) }) {
        (value, name) throws(JSONContentError) in
        guard case .array(let elements) = value else { return nil }
        return try elements.map { (element) throws(JSONContentError) in
            guard let text = element.text else {
                throw JSONContentError("`\(name)` must contain strings, not \(element.kind)")
            }
            return text
        }
    }
}

extension JSONCodec where Value: FixedWidthInteger & Sendable {
    /// Any number that the type can represent.
    package static var integer: JSONCodec {
        JSONCodec("a whole number", encode: { .integer(Int(clamping: $0)) }) { value, _ in
            value.integer.flatMap(Value.init(exactly:))
        }
    }

    /// Returns the codec for integers within a range.
    ///
    /// - Parameter range: the accepted numbers; the type must be able to represent all of them. A number below the
    ///   range is written as the range's lower bound.
    package static func integer(in range: ClosedRange<Int>) -> JSONCodec {
        JSONCodec("a whole number", encode: { .integer(max(Int(clamping: $0), range.lowerBound)) }) {
            (value, name) throws(JSONContentError) in
            guard let number = value.integer else { return nil }
            guard range.contains(number) else {
                throw JSONContentError("`\(name)` must be \(range.lowerBound) to \(range.upperBound), not \(number)")
            }
            return Value(clamping: number)
        }
    }
}

extension JSONCodec where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// One of the raw values of an enumeration.
    package static var word: JSONCodec {
        let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return JSONCodec("a string", encode: { .string($0.rawValue) }) { (value, name) throws(JSONContentError) in
            guard let text = value.text else { return nil }
            if let word = Value(rawValue: text) { return word }
            throw JSONContentError("`\(name)` must be one of \(known), not `\(Escaped.text(String(text.prefix(40))))`")
        }
    }
}

extension JSONCodec {
    package static func list<Element>(of element: JSONCodec<Element>) -> JSONCodec where Value == [Element] {
        JSONCodec("an array", encode: { .array($0.map(element.encode)) }) { (value, _) throws(JSONContentError) in
            guard case .array(let elements) = value else { return nil }
            return try elements.map { (value) throws(JSONContentError) in try element.decode(value) }
        }
    }

    /// Returns the codec for an object.
    ///
    /// - Parameter blank: the value whose properties are used for missing members.
    package static func object(_ blank: Value, _ fields: [JSONField<Value>]) -> JSONCodec where Value: Sendable {
        JSONCodec("an object", encode: { .object(fields.members(of: $0)) }) { (value, _) throws(JSONContentError) in
            guard case .object = value else { return nil }
            var result = blank
            try fields.decode(value, into: &result)
            return result
        }
    }
}
