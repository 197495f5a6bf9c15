import ProbeEvents

/// Adds color to the text of diagnostics. The severity, the carets and the hints are recognized by the layout of their
/// lines; apart from the color, the text is unchanged.
package enum DiagnosticPaint {
    /// Returns the text with color.
    ///
    /// - Parameter text: complete lines, as written by a `DiagnosticRenderer`.
    package static func painted(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line($0) }.joined(separator: "\n")
    }

    private static func line(_ line: Substring) -> String {
        let paint = Paint(isOn: true)
        let words = line.drop { $0 == " " }
        let indent = line[..<words.startIndex]
        if words.first == "^", words.allSatisfy({ $0 == "^" }) { return indent + paint(.marker, String(words)) }
        if words.hasPrefix("hint: "), indent.count == 2 { return indent + paint(.hint, String(words)) }
        guard indent.isEmpty else { return String(line) }
        for (severity, role) in severities {
            guard let place = place(of: severity, in: line) else { continue }
            return line[..<place.lowerBound] + paint(role, severity) + line[place.upperBound...]
        }
        return String(line)
    }

    private static let severities: [(String, Paint.Role)] = [
        ("error:", .verdict(.failed)), ("warning:", .verdict(.skipped)), ("note:", .cause),
    ]

    /// Returns the range of the severity, which is at the start of the line or after the first `:line:column: `.
    private static func place(of severity: String, in line: Substring) -> Range<Substring.Index>? {
        var start = line.startIndex
        if !line.hasPrefix(severity) {
            var end: Substring.Index?
            for blank in line.indices where line[blank] == " " {
                let place = line[..<blank]
                guard place.last == ":", place.dropLast().last?.isNumber == true else { continue }
                end = line.index(after: blank)
                break
            }
            guard let end, line[end...].hasPrefix(severity) else { return nil }
            start = end
        }
        return start..<line.index(start, offsetBy: severity.count)
    }
}
