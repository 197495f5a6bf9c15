package import ProbeBase
import ProbeScenario

/// What came on a stream, as statements of the language.
package enum StreamStatements {
    /// A longer piece is expected by its length: nobody reads a literal of that size.
    private static let longestLiteral = 1024

    /// Expectations that take these bytes, whole: lines and messages by the framing, the rest as it is.
    package static func expectations(of bytes: [UInt8], _ framing: Framing, by actor: String) -> [String] {
        let word = framing.prefix == nil && framing != .netstring ? "line" : "message"
        return RecordedUnit.split(bytes, framing).map { kind, bytes in
            if bytes.count > longestLiteral, kind == .bytes { return "\(actor) expect \(bytes.count) bytes" }
            return "\(actor) expect \(kind == .line ? "\(word) " : "")\(literal(bytes))"
        }
    }

    /// As a string of a script: characters as they are, and no `${`.
    package static func literal(_ bytes: [UInt8]) -> String {
        var (text, index) = ("\"", 0)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "$") {
                text += "\\$"
                index += 1
                continue
            }
            let unit = Escaped.readableUnit(of: bytes, at: index)
            text += unit.text
            index += unit.length
        }
        return text + "\""
    }
}
