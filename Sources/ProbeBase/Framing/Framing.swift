/// How a stream of bytes is divided into units: by a terminator after each, or by a length before each.
public enum Framing: Sendable, Hashable {
    case crlf, lf, cr, nul
    case u8, u16, u24, u32, u64, u16le, u32le, varint
    /// The length in decimal digits and `:` before a unit, `,` after it.
    case netstring
    case websocket, none
    /// These bytes end a unit; at least one. ``init(delimiter:)`` chooses between this and the named terminators.
    case delimiter([UInt8])
}

extension Framing {
    /// How a framing divides a stream. Code that reads or writes units decides by this, so that another terminator or
    /// another length changes nothing there.
    package enum Kind: Sendable, Hashable {
        /// These bytes end each unit, which is a line.
        case lines(terminator: [UInt8])
        /// A length precedes each unit, which is a message.
        case counted(LengthPrefix)
        case webSocket
        /// There are no units.
        case undivided
    }

    /// The word for a unit in the language.
    package enum Unit: String, Sendable {
        case line, message
    }

    /// The declaration of each framing: its word in a script (of a delimiter, which has none: the word in the list of
    /// what a transport offers), and how it divides a stream. Everything else follows from it.
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
    /// All framings that have a word, without the delimiters that a script defines.
    public static let allCases: [Framing] = [
        .crlf, .lf, .cr, .nul, .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none,
    ]
}

extension Framing: RawRepresentable {
    /// The word in a script, such as `crlf`; a delimiter is in quotes, with the escapes of a script.
    public var rawValue: String {
        if case .delimiter(let bytes) = self { "\"\(Escaped.bytes(bytes))\"" } else { declaration.word }
    }

    /// Creates the framing of a word, or of a delimiter in quotes.
    public init?(rawValue: String) {
        if rawValue.hasPrefix("\"") {
            guard let bytes = Framing.unquoted(Array(rawValue.utf8)) else { return nil }
            self.init(delimiter: bytes)
            return
        }
        guard let framing = Framing.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = framing
    }

    /// Creates the framing in which these bytes end a unit; `nil` if there are none.
    public init?(delimiter: [UInt8]) {
        if delimiter.isEmpty { return nil }
        self = Framing.allCases.first { $0.terminator == delimiter } ?? .delimiter(delimiter)
    }

    /// Returns the bytes of a text in quotes, in which `\\r \\n \\t \\0 \\\\ \\"` and `\\xHH` are escapes.
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

// MARK: What follows from the declaration

extension Framing {
    package var kind: Kind { declaration.kind }

    /// The bytes that end a unit; `nil` for a framing by length, and for `websocket` and `none`.
    package var terminator: [UInt8]? {
        if case .lines(let terminator) = kind { terminator } else { nil }
    }

    /// The length that precedes a unit; `nil` for other framings.
    package var prefix: LengthPrefix? {
        if case .counted(let prefix) = kind { prefix } else { nil }
    }

    /// What a unit is; `nil` if the framing does not divide a stream of bytes.
    package var unit: Unit? {
        switch kind {
        case .lines: .line
        case .counted: .message
        case .webSocket, .undivided: nil
        }
    }

    /// Whether a stream is divided into units.
    package var hasUnits: Bool { unit != nil }

    /// The name of the terminator in a report, such as `CRLF` or `"END"`; the framing's word if it has none.
    package var terminatorName: String {
        if case .delimiter = self { return rawValue }
        return terminator == nil ? rawValue : rawValue.uppercased()
    }

    /// The framings whose units are lines, for a message: `crlf, lf, cr, nul or a delimiter`.
    package static var lineWords: String {
        allCases.filter { $0.unit == .line }.map(\.rawValue).joined(separator: ", ") + " or a delimiter"
    }

    /// Returns the bytes before and after a payload of `count` bytes; `nil` if its length can't be encoded.
    package func envelope(of count: Int) -> (before: [UInt8], after: [UInt8])? {
        switch kind {
        case .lines(let terminator): ([], terminator)
        case .counted(let prefix): prefix.encode(count).map { ($0, prefix.end.map { [$0] } ?? []) }
        case .webSocket, .undivided: ([], [])
        }
    }

    /// Returns the number of bytes of a unit on the wire.
    package func length(of payload: [UInt8]) -> Int {
        let envelope = envelope(of: payload.count)
        return payload.count + (envelope.map { $0.before.count + $0.after.count } ?? 0)
    }
}

// MARK: What a transport offers

extension Framing {
    /// The item of a list of framings that represents every delimiter that a script defines.
    public static let anyDelimiter = Framing.delimiter([])

    /// Creates the framing of a word of such a list, such as `crlf`; `delimiter` is ``anyDelimiter``.
    package init?(offer word: String) {
        guard let framing = Framing.offers.first(where: { $0.offer == word }) else { return nil }
        self = framing
    }

    /// The framing as a word of such a list.
    fileprivate var offer: String { declaration.word }

    /// The framings that a list can contain. `websocket` is a capability, because it is more than a framing.
    fileprivate static let offers = allCases.filter { $0 != .websocket } + [anyDelimiter]
}

extension Set<Framing> {
    /// Returns whether a transport with this list has the framing.
    package func offers(_ framing: Framing) -> Bool {
        if case .delimiter = framing { return contains(framing) || contains(.anyDelimiter) }
        return contains(framing)
    }

    /// The words of the list, in the language's order.
    package var words: [String] {
        let words = Set<String>(map(\.offer))
        return Framing.offers.map(\.offer).filter(words.contains)
    }
}
