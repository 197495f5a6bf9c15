package import ProbeBase

/// `pb(…)`: a protobuf message to build, or a field of a received message.
package enum ProtobufExpression: Sendable, Equatable {
    /// A message to build: `pb(1: "text", 2: 150)`.
    case message([Field])
    /// A field of a message: `pb(m, 3.1)`.
    case field(of: Expression, ProtobufPath)
    /// A number in the encoding of a field with which it is compared: `sint -1`.
    case number(Scalar)

    package struct Field: Sendable, Equatable {
        package var number: Expression
        package var content: Content
    }

    package enum Content: Sendable, Equatable {
        case single(Scalar)
        /// A packed field: `[1, 2]`.
        case packed([Scalar])
    }

    /// The encoding of a number. If no encoding is given, bytes are length-prefixed and a number is a varint.
    package enum Format: String, Sendable, CaseIterable {
        case fixed32, fixed64
        /// Zigzag encoding: small numbers of either sign are short.
        case sint
        /// Two's complement in 64 bits: a negative number takes ten bytes.
        case int
    }

    package struct Scalar: Sendable, Equatable {
        package var format: Format?
        /// Whether a `-` precedes the value.
        package var isNegative: Bool
        package var value: Expression
    }

    /// All values that the expression contains.
    package var values: [Expression] {
        switch self {
        case .message(let fields): fields.flatMap { [$0.number] + $0.content.scalars.map(\.value) }
        case .field(let message, _): [message]
        case .number(let scalar): [scalar.value]
        }
    }
}

extension ProtobufExpression.Content {
    package var scalars: [ProtobufExpression.Scalar] {
        switch self {
        case .single(let scalar): [scalar]
        case .packed(let scalars): scalars
        }
    }
}

extension ProtobufExpression {
    static let entry: LanguageEntry = {
        let example = "pb(1: \"text\", 2: 150, 3: pb(1: 1))"
        let meaning =
            "a protobuf message, given as fields by number. Bytes are length-prefixed, and a number is a varint; `fixed32 7`, `fixed64 7`, `sint -1` (zigzag) and `int -1` (ten bytes) choose another encoding; `[1, 2]` is a packed field"
        var entry = LanguageEntry("pb", ["pb(1: V, 2: n)", "pb(m, 3.1)"], meaning, example: example, timing: nil)
        entry.rows = [
            LanguageEntry.Row(forms: ["pb(1: V, 2: n, 3: [1, 2])"], meaning: meaning),
            LanguageEntry.Row(
                forms: ["pb(m, 3.1)", "pb(m, 3[0].1)"],
                meaning:
                    "a field of the message `m`, given by field numbers from the outermost message inward, with the index of a repeated field in brackets. A varint is a signed 64-bit number, a fixed-width field an unsigned number, and anything else bytes. If the field is missing or `m` is not a valid message, the case fails"
            ),
        ]
        return entry
    }()
}
