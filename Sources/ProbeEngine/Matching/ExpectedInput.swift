import ProbeBase
import ProbeRegex
import ProbeScenario

/// The input that an `expect` of a connection awaits, with all its values computed.
enum ExpectedInput {
    case bytes([UInt8])
    case line(ExpectedText, name: String?)
    case linesInAnyOrder([(isOptional: Bool, text: ExpectedText)])
    case untilLine(ExpectedText, name: String?)
    case count(Int, name: String?)
    case until([UInt8], name: String?)
    case anyBytes(name: String?)
    case integer(IntegerFormat, name: String?)
    case message(ExpectedText, name: String?)
    /// A WebSocket message or frame, with its description.
    case webSocket(WebSocketMatcher.Wanted, String)
    case eof
    case reset
    case closed
    case notify
    case truncated
    /// The TLS alert with this number.
    case alert(UInt8)

    /// Whether it expects raw bytes rather than units of the framing.
    var isRaw: Bool {
        switch self {
        case .bytes, .count, .until, .anyBytes, .integer: true
        default: false
        }
    }

    /// Whether it expects the end of the connection.
    var isEnd: Bool {
        switch self {
        case .eof, .reset, .closed, .notify, .truncated, .alert: true
        default: false
        }
    }

    /// The least number of received bytes to show next to the expectation. Showing fewer would suggest that the rest
    /// did not arrive.
    var shownLength: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        // Includes a terminator.
        case .line(let text, _), .message(let text, _), .untilLine(let text, _): (text.value?.count ?? 0) + 2
        default: 0
        }
    }

    /// What is awaited, in words, such as `a line "x"`.
    var description: String {
        switch self {
        case .bytes(let bytes): Escaped.phrase(bytes)
        case .line(let text, _): text.described(as: "line")
        case .linesInAnyOrder(let texts): "\(texts.count) lines in any order"
        case .untilLine(let text, _): text.described(as: "the line")
        case .count(let count, _): "\(count) bytes"
        case .until(let delimiter, _): "bytes until \(Escaped.phrase(delimiter))"
        case .anyBytes: "any bytes"
        case .integer(let format, _): "a \(format.rawValue)"
        case .message(let text, _): text.described(as: "message")
        case .webSocket(_, let description): description
        case .eof: "eof (FIN)"
        case .reset: "reset (RST)"
        case .closed: "the end of the connection (FIN or RST)"
        case .notify: "close_notify"
        case .truncated: "a FIN without close_notify"
        case .alert(let code): "the alert \(TLSAlert(level: 2, code: code))"
        }
    }
}

/// The expected text of a line or message.
enum ExpectedText {
    case value([UInt8])
    case regex(ByteRegex)
    case any

    func described(as noun: String) -> String {
        switch self {
        case .value(let bytes): "\(noun) \(Escaped.phrase(bytes))"
        case .regex(let regex): "\(noun) /\(regex.source)/"
        case .any: "a \(noun)"
        }
    }

    /// Returns the groups of the regex if the bytes match; `nil` otherwise.
    func match(_ bytes: [UInt8]) -> [(String, Value)]? {
        switch self {
        case .any: return []
        case .value(let expected): return bytes == expected ? [] : nil
        case .regex(let regex):
            guard let match = regex.firstMatch(in: bytes.span) else { return nil }
            return match.groups.map { ($0.name, .bytes($0.range.map { Array(bytes[$0]) } ?? [])) }
        }
    }

    /// Whether the bytes match. This is cheaper than extracting the groups.
    func fits(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .any: true
        case .value(let expected): bytes == expected
        case .regex(let regex): regex.containsMatch(in: bytes)
        }
    }

    var value: [UInt8]? {
        if case .value(let bytes) = self { bytes } else { nil }
    }
}
