import ProbeBase
import ProbeScenario

/// A JSON text in the making: what is put in comes out in that order.
package enum JSONValue: Sendable {
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    /// On one line, UTF-8. Control characters, and what is invisible or turns the direction of text, are escaped, so that
    /// the text is safe on a terminal too.
    package var bytes: [UInt8] {
        var text = ""
        append(to: &text)
        return Array(text.utf8)
    }

    private func append(to text: inout String) {
        switch self {
        case .string(let string): JSONValue.append(string, to: &text)
        case .integer(let number): text += String(number)
        case .boolean(let value): text += value ? "true" : "false"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                JSONValue.append(member.key, to: &text)
                text += ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar.value {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x0A: text += "\\n"
            case 0x0D: text += "\\r"
            case 0x09: text += "\\t"
            case _ where !scalar.isVisible: for unit in String(scalar).utf16 { text += escape(unit) }
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private static func escape(_ unit: UInt16) -> String {
        let hex = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    }
}
