import ProbeBase
import ProbeScenario

/// Escapes text for XML 1.0. The result is well-formed for every string, and a parser returns the same string, except
/// for invisible characters and characters that XML can't contain.
enum XMLText {
    /// Returns character data. `>` is also escaped, so that `]]>` does not occur.
    static func content(_ text: String) -> String { escaped(text, isAttribute: false) }

    /// Returns the value of an attribute, without its double quotes. Line feeds and tabs are written as character
    /// references, because a parser would otherwise convert them to spaces.
    static func attribute(_ text: String) -> String { escaped(text, isAttribute: true) }

    private static func escaped(_ text: String, isAttribute: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26: result += "&amp;"
            case 0x3C: result += "&lt;"
            case 0x3E: result += "&gt;"
            case 0x22: result += "&quot;"
            case 0x0A where !isAttribute: result.unicodeScalars.append(scalar)
            case 0x09, 0x0A, 0x0D: result += "&#\(scalar.value);"
            // The invisible characters include all characters that XML 1.0 forbids or discourages (section 2.2). They
            // are shown as escapes of the script language.
            case _ where !scalar.isVisible: result += Escaped.code(of: scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
