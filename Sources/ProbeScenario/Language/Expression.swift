package import ProbeRegex

/// An expression for bytes or an integer. The operands determine the type of the result. The checker has verified that
/// the context allows this type.
package struct Expression: Sendable, Equatable {
    package var kind: Kind
    package var span: SourceSpan

    package init(_ kind: Kind, span: SourceSpan) {
        self.kind = kind
        self.span = span
    }

    package indirect enum Kind: Sendable, Equatable {
        /// A string, such as `"text ${x}"` or `'raw'`.
        case string([StringPiece])
        /// A number, such as `12` or `0x1f`, or a size (`4KiB` is 4096).
        case integer(Int)
        /// A literal from 2^63 to 2^64 - 1.
        case unsigned(UInt64)
        /// A variable.
        case variable(String)
        /// The decoded bytes of `hex(…)`.
        case hex([UInt8])
        /// A call of a function, such as `base64("…")`, `file("…")`, `random(64KiB, seed 7)`, `u16(n)`, `sized(u16,
        /// V)`, `line("x")`, `lines(…)`, `varint(n)`, `int(x)`, `len(V)` or `cuts(V, 2)`. An argument that is a bare
        /// word, such as the `u16` of `sized`, is a `.variable`; `seed 7` is a label and its value.
        case call(Name, [Argument])
        /// A WebSocket frame, such as `ws.text("x")`.
        case webSocket(WebSocketExpression)
        /// A protobuf message, or a field of a protobuf message: `pb(1: "text")`, `pb(m, 3.1)`.
        case protobuf(ProtobufExpression)
        /// `VALUE * n`: repeats bytes, or multiplies integers.
        case multiply(Expression, Expression)
        /// `a + b`: joins bytes, or adds integers.
        case add(Expression, Expression)
        case subtract(Expression, Expression)
        case divide(Expression, Expression)
        /// An expression in parentheses.
        case parenthesized(Expression)
    }

    package struct Argument: Sendable, Equatable {
        package var label: Name?
        package var value: Expression

        package init(label: Name? = nil, value: Expression) {
            self.label = label
            self.value = value
        }
    }
}

extension AddressExpression {
    /// Whether the address is on loopback, with a port that belongs to an actor: `127.0.0.1:(int("${P.port}"))`. The
    /// actor, or a process that it has started, listens on this address.
    package var isWithinRun: Bool {
        let isLoopback = host.hasPrefix("127.") || host == "::1" || host == "localhost"
        return isLoopback && port?.namesPort == true
    }
}

extension Expression {
    /// Whether the expression is computed from the port of an actor, as in `int("${P.port}") + 1`.
    package var namesPort: Bool {
        switch kind {
        case .string(let pieces):
            pieces.contains { piece in
                guard case .property(_, let property) = piece else { return false }
                return property.value == "port" || property.value.hasPrefix("port.")
            }
        case .call(_, let arguments): arguments.contains { $0.value.namesPort }
        case .multiply(let left, let right), .add(let left, let right), .subtract(let left, let right),
            .divide(let left, let right):
            left.namesPort || right.namesPort
        case .parenthesized(let inner): inner.namesPort
        case .integer, .unsigned, .variable, .hex, .webSocket, .protobuf: false
        }
    }
}

/// A part of a string literal.
package enum StringPiece: Sendable, Equatable {
    case text([UInt8])
    // Most pieces are text, so the other kinds of pieces are `indirect`, which keeps the enum small.

    /// A variable that is interpolated: `${x}`.
    indirect case variable(Name)
    /// A property of an actor that is interpolated: `${S.port}`, `${S.address}`, or `${P.port.2}`, whose `property` is
    /// `port.2`.
    indirect case property(actor: Name, property: Name)
}

/// The pattern that a line, a message or a piece of output must match.
package enum Pattern: Sendable {
    /// Matches bytes that are equal to the value of this expression.
    case value(Expression)
    /// Matches if the regex finds a match. The named groups of the regex are then bound.
    indirect case regex(RegexLiteral)
    /// Matches anything; used with `as`.
    case any
}

/// A regex literal such as `/…/i`, which can interpolate variables. The literal is compiled as soon as the values of
/// all its variables are known (immediately if it has no variables).
package struct RegexLiteral: Sendable {
    package var pieces: [StringPiece]
    package var ignoresCase: Bool
    /// The named groups, in order of appearance.
    package var groupNames: [String]
    /// The compiled regex; `nil` if the literal interpolates a variable.
    package var compiled: ByteRegex?
    package var span: SourceSpan

    package init(
        pieces: [StringPiece], ignoresCase: Bool, groupNames: [String], compiled: ByteRegex?, span: SourceSpan
    ) {
        self.pieces = pieces
        self.ignoresCase = ignoresCase
        self.groupNames = groupNames
        self.compiled = compiled
        self.span = span
    }
}
