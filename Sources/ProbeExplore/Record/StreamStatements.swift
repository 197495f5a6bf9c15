package import ProbeBase
import ProbeScenario

/// Statements of the language that expect or send the bytes of a stream.
package enum StreamStatements {
    /// The maximum length of a literal, in bytes. A longer piece is expected by its length, because a literal of that
    /// size is unreadable.
    private static let longestLiteral = 1024

    /// Returns expectations that together consume all of these bytes: lines and messages according to the framing, the
    /// rest as bytes.
    ///
    /// - Parameter room: the number of bytes that may be written out; each statement takes
    ///   ``RecordedConversation/turnCost`` in addition. Bytes that don't fit are expected by their number, in one
    ///   statement.
    /// - Returns: the statements, and the number of bytes that did not fit.
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
        // The rest would have gaps if a later, smaller piece were written out again.
        room = 0
        return (statements + [counted(rest, by: actor)], rest)
    }

    /// Returns the word before a literal in `send` and `expect`, with a space; bytes that are not a unit have none.
    package static func word(_ unit: Framing.Unit?) -> String { unit.map { "\($0.rawValue) " } ?? "" }

    private static func counted(_ count: Int, by actor: String) -> String {
        "\(actor) expect \(count) bytes"
    }

    /// Returns the contents of an ASCII string literal that represents these bytes, even in a string that may contain
    /// variables.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        Escaped.bytes(bytes).replacing("${", with: "\\${")
    }

    /// Returns a string literal with its characters unescaped where possible, and without `${`.
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
