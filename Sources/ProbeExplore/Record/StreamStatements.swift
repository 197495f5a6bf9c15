package import ProbeBase
import ProbeScenario

/// What came on a stream, as statements of the language.
package enum StreamStatements {
    /// A longer piece is expected by its length: nobody reads a literal of that size.
    private static let longestLiteral = 1024

    /// Returns expectations that together take all of these bytes: lines and messages by the framing, the rest as bytes.
    ///
    /// - Parameter room: the number of bytes that may be written out; each statement takes ``RecordedConversation/turnCost`` more. The
    ///   bytes for which there is no room are expected by their number, in one statement.
    /// - Returns: the statements, and the number of bytes for which there was no room.
    package static func expectations(
        of bytes: [UInt8], _ framing: Framing, by actor: String, room: inout Int
    ) -> (statements: [String], unwritten: Int) {
        let word = framing.prefix == nil && framing != .netstring ? "line" : "message"
        var (statements, end) = ([String](), 0)
        for unit in RecordedUnit.split(bytes, framing, limit: room / RecordedConversation.turnCost) {
            let isCounted = unit.kind == .bytes && unit.bytes.count > longestLiteral
            let cost = RecordedConversation.turnCost + (isCounted ? 0 : unit.bytes.count)
            guard cost <= room else { break }
            (room, end) = (room - cost, unit.end)
            statements.append(
                isCounted
                    ? counted(unit.bytes.count, by: actor)
                    : "\(actor) expect \(unit.kind == .line ? "\(word) " : "")\(literal(unit.bytes))")
        }
        let rest = bytes.count - end
        guard rest > 0 else { return (statements, 0) }
        // What follows would have gaps if a smaller piece were written out again.
        room = 0
        return (statements + [counted(rest, by: actor)], rest)
    }

    private static func counted(_ count: Int, by actor: String) -> String {
        "\(actor) expect \(count) bytes"
    }

    /// The inside of a string of a script, in ASCII: it means these bytes wherever a string may have variables in it.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        Escaped.bytes(bytes).replacing("${", with: "\\${")
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
