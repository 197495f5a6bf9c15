import ProbeBase
import ProbeScenario

/// Text in XML 1.0: every string becomes well-formed content, and comes back as it was but for what XML can't hold and what nobody sees.
enum XMLText {
    /// Character data; `>` too, so that `]]>` is never there.
    static func content(_ text: String) -> String { escaped(text, isAttribute: false) }

    /// Between double quotes; line feeds and tabs as references, since a parser would make spaces of them.
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
            // With what are no characters of XML 1.0 (section 2.2), or discouraged there: shown as a script would write them.
            case _ where !scalar.isVisible: result += Escaped.code(of: scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
