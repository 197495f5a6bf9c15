import ProbeScenario

/// Text in columns of a terminal, where a wide character takes two.
enum Columns {
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
    }

    /// With spaces behind it, up to `width`.
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - Columns.width(text)))
    }

    /// At most `width` columns; the ellipsis of a text that is cut is one of them.
    static func cut(_ text: String, to width: Int) -> String {
        var kept = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            let columns = CharacterWidth.columns(of: scalar)
            if used + columns > width {
                // The ellipsis takes the place of the last one that fitted; a wide one leaves a column over.
                return kept.isEmpty ? "" : String(String.UnicodeScalarView(kept.dropLast())) + "…"
            }
            used += columns
            kept.append(scalar)
        }
        return String(kept)
    }
}
