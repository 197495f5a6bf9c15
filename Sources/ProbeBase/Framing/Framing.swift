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

extension Framing: CaseIterable {
    /// All framings that have a word, without the delimiters that a script defines.
    public static let allCases: [Framing] = [
        .crlf, .lf, .cr, .nul, .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none,
    ]
}

extension Framing: RawRepresentable {
    /// The word in a script, such as `crlf`; a delimiter is in quotes, with the escapes of a script.
    public var rawValue: String {
        switch self {
        case .crlf: "crlf"
        case .lf: "lf"
        case .cr: "cr"
        case .nul: "nul"
        case .u8: "u8"
        case .u16: "u16"
        case .u24: "u24"
        case .u32: "u32"
        case .u64: "u64"
        case .u16le: "u16le"
        case .u32le: "u32le"
        case .varint: "varint"
        case .netstring: "netstring"
        case .websocket: "websocket"
        case .none: "none"
        case .delimiter(let bytes): "\"\(Escaped.bytes(bytes))\""
        }
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
        self = Framing.named.first { $0.terminator == delimiter } ?? .delimiter(delimiter)
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

    private static let named: [Framing] = [.crlf, .lf, .cr, .nul]
}

extension Framing {
    /// The bytes that end a unit; `nil` for a framing by length, and for `websocket` and `none`.
    package var terminator: [UInt8]? {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .cr: [0x0D]
        case .nul: [0x00]
        case .delimiter(let bytes): bytes
        case .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring, .websocket, .none: nil
        }
    }

    /// The binary length that precedes a unit; `nil` for other framings.
    package var prefix: IntegerFormat? {
        switch self {
        case .u8: .u8
        case .u16: .u16
        case .u24: .u24
        case .u32: .u32
        case .u64: .u64
        case .u16le: .u16le
        case .u32le: .u32le
        case .varint: .varint
        case .crlf, .lf, .cr, .nul, .delimiter, .netstring, .websocket, .none: nil
        }
    }

    /// Whether a stream is divided into units.
    package var hasUnits: Bool {
        switch self {
        case .websocket, .none: false
        default: true
        }
    }

    /// Returns the bytes before and after a payload of `count` bytes; `nil` if its length can't be encoded.
    package func envelope(of count: Int) -> (before: [UInt8], behind: [UInt8])? {
        if let terminator { return ([], terminator) }
        if self == .netstring { return (Netstring.prefix(of: count), [Netstring.end]) }
        guard let prefix else { return ([], []) }
        return prefix.encode(count).map { ($0, []) }
    }

    /// Returns the number of bytes of a unit on the wire.
    package func length(of payload: [UInt8]) -> Int {
        let envelope = envelope(of: payload.count)
        return payload.count + (envelope.map { $0.before.count + $0.behind.count } ?? 0)
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
    fileprivate var offer: String {
        if case .delimiter = self { "delimiter" } else { rawValue }
    }

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
