/// Where text goes, a whole line or more at a time, each ended by a line feed.
package typealias TextOutput = (String) -> Void

/// Text in columns. What comes from a capture is escaped before it gets here, so that a character is a column; other Unicode
/// (a step's comment) counts one a character.
enum Columns {
    static func left(_ text: String, _ width: Int) -> String {
        let missing = width - text.count
        return missing > 0 ? text + String(repeating: " ", count: missing) : text
    }

    static func right(_ text: String, _ width: Int) -> String {
        let missing = width - text.count
        return missing > 0 ? String(repeating: " ", count: missing) + text : text
    }

    /// At most `width` characters, the last one an ellipsis where some are left out.
    static func cut(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : String(text.prefix(max(width - 1, 0))) + "…"
    }

    /// Seconds with six decimals, as other tools print times: `0.000123`, `-0.000004`.
    static func seconds(_ nanoseconds: Int64) -> String {
        let micro = (nanoseconds.magnitude + 500) / 1_000
        let fraction = String(micro % 1_000_000)
        let sign = nanoseconds < 0 && micro > 0 ? "-" : ""
        return "\(sign)\(micro / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// From `start` to `time`, right where `time` is earlier.
    static func difference(from start: UInt64, to time: UInt64) -> Int64 {
        time >= start ? Int64(clamping: time - start) : -Int64(clamping: start - time)
    }
}
