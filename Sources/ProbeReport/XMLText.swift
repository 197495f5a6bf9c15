import ProbeBase
import ProbeScenario

/// Text in XML 1.0. Every string becomes well-formed content. A parser returns the same string, except for characters
/// that XML can't contain and invisible ones.
enum XMLText {
    /// Returns character data. `>` is escaped too, so that `]]>` can't occur.
    static func content(_ text: String) -> String { escaped(text, isAttribute: false) }

    /// Returns an attribute's value between double quotes. Line feeds and tabs are written as references, because a
    /// parser would turn them into spaces.
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
            // These include the characters that XML 1.0 forbids or discourages (section 2.2). They are shown as escapes
            // of the script language.
            case _ where !scalar.isVisible: result += Escaped.code(of: scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
