package import ProbeBase
import ProbeScenario

/// Creates script statements that expect or send the bytes of a stream.
package enum StreamStatements {
    /// The maximum length of a literal, in bytes. For a longer piece, only the length is expected, because a longer
    /// literal would be unreadable.
    private static let longestLiteral = 1024

    /// Returns expectations that together consume the given bytes. Complete lines or messages of the framing are
    /// expected as such, and all other bytes as plain bytes.
    ///
    /// - Parameter room: the number of bytes that may be written as literals; each statement takes an additional
    ///   ``RecordedConversation/turnCost`` bytes. For all bytes beyond the limit, a single statement expects only their
    ///   number.
    /// - Returns: the statements, and the number of bytes that are not written as literals.
    package static func expectations(
        of bytes: [UInt8], _ framing: Framing, by actor: String, room: inout Int
    ) -> (statements: [String], unwritten: Int) {
        var (statements, end) = ([String](), 0)
        for unit in RecordedUnit.split(bytes, framing, limit: room / RecordedConversation.turnCost) {
            let isCounted = unit.kind == .bytes && unit.bytes.count > longestLiteral
            let cost = RecordedConversation.turnCost + (isCounted ? 0 : unit.bytes.count)
            guard cost <= room else { break }
            (room, end) = (room - cost, unit.end)
            statements.append(
                isCounted
                    ? counted(unit.bytes.count, by: actor)
                    : "\(actor) expect \(word(unit.kind == .line ? framing.unit : nil))\(literal(unit.bytes))")
        }
        let rest = bytes.count - end
        guard rest > 0 else { return (statements, 0) }
        // After a piece that does not fit, no further piece is written as a literal. Otherwise, the literals in the
        // script would not be consecutive.
        room = 0
        return (statements + [counted(rest, by: actor)], rest)
    }

    /// Returns the word before a literal in `send` and `expect`, followed by a space; empty if the literal is not a
    /// unit.
    package static func word(_ unit: Framing.Unit?) -> String { unit.map { "\($0.rawValue) " } ?? "" }

    private static func counted(_ count: Int, by actor: String) -> String {
        "\(actor) expect \(count) bytes"
    }

    /// Returns the content of an ASCII string literal that represents these bytes. It contains no `${`, so it may be
    /// part of a string with variables.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        Escaped.bytes(bytes).replacing("${", with: "\\${")
    }

    /// Returns a string literal in which characters are unescaped if possible. It contains no `${`.
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
