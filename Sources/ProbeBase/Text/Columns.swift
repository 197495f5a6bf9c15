/// Text that is aligned to the columns of a terminal. A wide character takes two columns.
package enum Columns {
    package static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
    }

    /// Returns the text, padded on the right with spaces to `width` columns.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - Columns.width(text)))
    }

    /// Returns the text, padded on the left with spaces to `width` columns.
    package static func right(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - Columns.width(text))) + text
    }

    /// Returns the text, cut to `width` columns. If the text is cut, its last column is an ellipsis.
    package static func cut(_ text: String, to width: Int) -> String {
        var kept = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            let columns = CharacterWidth.columns(of: scalar)
            if used + columns > width {
                // The ellipsis replaces the last character that fits. If that character is wide, one column remains
                // empty.
                return kept.isEmpty ? "" : String(String.UnicodeScalarView(kept.dropLast())) + "…"
            }
            used += columns
            kept.append(scalar)
        }
        return String(kept)
    }
}

/// The number of columns that a character takes on a terminal.
package enum CharacterWidth {
    package static func columns(of scalar: UnicodeScalar) -> Int {
        // Common characters are handled first: no character below U+0300 is combining or wide.
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
