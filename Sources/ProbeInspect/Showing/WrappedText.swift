import ProbeBase

/// Wraps text into lines of limited width. A word that is wider than a line is split.
enum WrappedText {
    /// Returns a sentence wrapped into lines, each of which ends with a line feed.
    static func sentence(_ text: String, width: Int?) -> String {
        guard let width, Columns.width(text) > width else { return text + "\n" }
        return lines("", text.split(separator: " ").map(String.init), width: width, indent: 2) + "\n"
    }

    /// Appends units of text, separated by blanks, to the beginning of a line, and starts a new line whenever the next
    /// unit does not fit.
    ///
    /// - Parameters:
    ///   - start: the text at the beginning of the first line.
    ///   - indent: the indentation of the lines after the first one.
    /// - Returns: the lines, without a line feed at the end of the last line.
    static func lines(_ start: String, _ units: [String], width: Int, indent: Int) -> String {
        let indent = min(indent, max(width - 8, 0))
        let margin = String(repeating: " ", count: indent)
        var done = ""
        var line = start
        var used = Columns.width(start)
        var isEmpty = start.isEmpty
        for unit in units {
            let columns = Columns.width(unit)
            let blank = isEmpty || line.last == " " ? 0 : 1
            if used + blank + columns <= width {
                line += String(repeating: " ", count: blank) + unit
                used += blank + columns
                isEmpty = false
                continue
            }
            if !isEmpty {
                done += trimmed(line) + "\n"
                (line, used) = (margin, indent)
            }
            for scalar in unit.unicodeScalars {
                let columns = CharacterWidth.columns(of: scalar)
                if used + columns > width {
                    done += line + "\n"
                    (line, used) = (margin, indent)
                }
                line.unicodeScalars.append(scalar)
                used += columns
            }
            isEmpty = false
        }
        return done + trimmed(line)
    }

    private static func trimmed(_ line: String) -> String {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
