import ProbeBase
import ProbeScenario

/// Writes text as YAML 1.2, in the two forms that a TAP diagnostic requires.
enum YAMLText {
    /// Returns text in double quotes, on one line. A parser returns the same string.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0x09: result += "\\t"
            case _ where !isPrintable(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns a literal block as the value of a key that is indented by `indent` columns; the block's lines are
    /// indented by two more columns. Characters that a block can't contain are shown as their codes. Because every line
    /// is indented, no line is `...`, `---` or other text with a meaning in TAP.
    static func block(_ text: String, indent: Int) -> String {
        var result = "|2\n"
        let margin = String(repeating: " ", count: indent + 2)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines {
            result += line.isEmpty ? "\n" : margin
            if line.isEmpty { continue }
            for scalar in line.unicodeScalars {
                if isPrintable(scalar) {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += Escaped.code(of: scalar)
                }
            }
            result += "\n"
        }
        return result
    }

    private static func escape(_ scalar: UnicodeScalar) -> String {
        let hex = String(scalar.value, radix: 16)
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)" + String(repeating: "0", count: width - hex.count) + hex
    }

    /// Returns whether YAML 1.2 considers a character printable (`c-printable`), excluding line breaks, the byte order
    /// mark and invisible characters.
    private static func isPrintable(_ scalar: UnicodeScalar) -> Bool { scalar.isVisible }
}
