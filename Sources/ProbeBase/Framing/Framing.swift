/// How a stream of bytes is divided into units: by a terminator after each unit, or by a length before each unit.
public enum Framing: Sendable, Hashable {
    case crlf, lf, cr, nul
    case u8, u16, u24, u32, u64, u16le, u32le, varint
    /// Decimal digits and `:` before each unit, and `,` after it.
    case netstring
    case websocket, none
    /// A delimiter of one or more bytes after each unit. Use ``init(delimiter:)`` to create this value; it returns a
    /// named framing if there is one with the same terminator.
    case delimiter([UInt8])
}

extension Framing {
    /// The way in which a framing divides a stream. Code that reads or writes units switches over the kind, so adding a
    /// terminator or a length format requires no change to that code.
    package enum Kind: Sendable, Hashable {
        /// Each unit is a line that ends with these bytes.
        case lines(terminator: [UInt8])
        /// Each unit is a message that follows its length.
        case counted(LengthPrefix)
        case webSocket
        /// The stream has no units.
        case undivided
    }

    /// The term for a unit in scripts and messages.
    package enum Unit: String, Sendable {
        case line, message
    }

    /// The keyword and the kind of each framing; all other properties are derived from the kind. In a script, a
    /// delimiter is written without a keyword; its keyword is used only in the list of framings that a transport
    /// offers.
    private var declaration: (word: String, kind: Kind) {
        switch self {
        case .crlf: ("crlf", .lines(terminator: [0x0D, 0x0A]))
        case .lf: ("lf", .lines(terminator: [0x0A]))
        case .cr: ("cr", .lines(terminator: [0x0D]))
        case .nul: ("nul", .lines(terminator: [0x00]))
        case .u8: ("u8", .counted(.integer(.u8)))
        case .u16: ("u16", .counted(.integer(.u16)))
        case .u24: ("u24", .counted(.integer(.u24)))
        case .u32: ("u32", .counted(.integer(.u32)))
        case .u64: ("u64", .counted(.integer(.u64)))
        case .u16le: ("u16le", .counted(.integer(.u16le)))
        case .u32le: ("u32le", .counted(.integer(.u32le)))
        case .varint: ("varint", .counted(.integer(.varint)))
        case .netstring: ("netstring", .counted(.netstring))
        case .websocket: ("websocket", .webSocket)
        case .none: ("none", .undivided)
        case .delimiter(let bytes): ("delimiter", .lines(terminator: bytes))
        }
    }
}

extension Framing: CaseIterable {
    /// All framings except the delimiters that scripts define.
    public static let allCases: [Framing] = [
        .crlf, .lf, .cr, .nul, .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none,
    ]
}

extension Framing: RawRepresentable {
    /// The framing as written in a script: a keyword such as `crlf`, or a delimiter in quotes, with escapes.
    public var rawValue: String {
        if case .delimiter(let bytes) = self { "\"\(Escaped.bytes(bytes))\"" } else { declaration.word }
    }

    /// Creates a framing from a script's keyword, or from a delimiter in quotes.
    public init?(rawValue: String) {
        if rawValue.hasPrefix("\"") {
            guard let bytes = Framing.unquoted(Array(rawValue.utf8)) else { return nil }
            self.init(delimiter: bytes)
            return
        }
        guard let framing = Framing.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = framing
    }

    /// Creates the framing whose units end with `delimiter`; `nil` if `delimiter` is empty.
    public init?(delimiter: [UInt8]) {
        if delimiter.isEmpty { return nil }
        self = Framing.allCases.first { $0.terminator == delimiter } ?? .delimiter(delimiter)
    }

    /// Returns the bytes that a quoted string represents. The escapes are `\\r \\n \\t \\0 \\\\ \\"` and `\\xHH`.
    private static func unquoted(_ text: [UInt8]) -> [UInt8]? {
        guard text.count >= 2, text.last == UInt8(ascii: "\"") else { return nil }
        var rest = text.dropFirst().dropLast()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return nil }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0"): bytes.append(0x00)
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
            case UInt8(ascii: "x"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, !digits.hasPrefix("+"), let value = UInt8(digits, radix: 16) else {
                    return nil
                }
                rest = rest.dropFirst(2)
                bytes.append(value)
            default: return nil
            }
        }
        return bytes
    }
}

// MARK: Derived properties

extension Framing {
    package var kind: Kind { declaration.kind }

    /// The bytes that end a unit; `nil` for a framing by length, for `websocket` and for `none`.
    package var terminator: [UInt8]? {
        if case .lines(let terminator) = kind { terminator } else { nil }
    }

    /// The format of the length that precedes a unit; `nil` for other framings.
    package var prefix: LengthPrefix? {
        if case .counted(let prefix) = kind { prefix } else { nil }
    }

    /// The term for a unit of the framing; `nil` if the framing does not divide a stream of bytes.
    package var unit: Unit? {
        switch kind {
        case .lines: .line
        case .counted: .message
        case .webSocket, .undivided: nil
        }
    }

    /// Whether the framing divides a stream into units.
    package var hasUnits: Bool { unit != nil }

    /// The name of the terminator in a report, such as `CRLF` or `"END"`; if the framing has no terminator, the
    /// framing's keyword.
    package var terminatorName: String {
        if case .delimiter = self { return rawValue }
        return terminator == nil ? rawValue : rawValue.uppercased()
    }

    /// The framings whose units are lines, for use in a message: `crlf, lf, cr, nul or a delimiter`.
    package static var lineWords: String {
        allCases.filter { $0.unit == .line }.map(\.rawValue).joined(separator: ", ") + " or a delimiter"
    }

    /// Returns the bytes before and after a payload of `count` bytes; `nil` if the length can't be encoded.
    package func envelope(of count: Int) -> (before: [UInt8], after: [UInt8])? {
        switch kind {
        case .lines(let terminator): ([], terminator)
        case .counted(let prefix): prefix.encode(count).map { ($0, prefix.end.map { [$0] } ?? []) }
        case .webSocket, .undivided: ([], [])
        }
    }

    /// Returns the number of bytes that a payload takes on the wire, including its terminator or its length.
    package func length(of payload: [UInt8]) -> Int {
        let envelope = envelope(of: payload.count)
        return payload.count + (envelope.map { $0.before.count + $0.after.count } ?? 0)
    }
}

// MARK: Framings that a transport offers

extension Framing {
    /// The framing that represents all script-defined delimiters in a list of framings.
    public static let anyDelimiter = Framing.delimiter([])

    /// Creates a framing from its keyword in a transport's list of framings, such as `crlf`; the keyword `delimiter`
    /// creates ``anyDelimiter``.
    package init?(offer word: String) {
        guard let framing = Framing.offers.first(where: { $0.offer == word }) else { return nil }
        self = framing
    }

    /// The framing's keyword in a transport's list of framings.
    fileprivate var offer: String { declaration.word }

    /// The framings that a transport can offer. `websocket` is not included, because it is a capability rather than
    /// just a framing.
    fileprivate static let offers = allCases.filter { $0 != .websocket } + [anyDelimiter]
}

extension Set<Framing> {
    /// Returns whether a transport that offers these framings supports `framing`.
    package func offers(_ framing: Framing) -> Bool {
        if case .delimiter = framing { return contains(framing) || contains(.anyDelimiter) }
        return contains(framing)
    }

    /// The keywords of the framings, in the order of the language reference.
    package var words: [String] {
        let words = Set<String>(map(\.offer))
        return Framing.offers.map(\.offer).filter(words.contains)
    }
}
