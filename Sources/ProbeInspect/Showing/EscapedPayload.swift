import ProbeBase
import ProbeEvents

/// Bytes in the notation of the scenario language, cut to a width.
enum EscapedPayload {
    /// `"220 rea"` in at most `width` columns; `"220 …` where it is cut, nil where not even one byte fits.
    static func quoted(_ bytes: Span<UInt8>, width: Int) -> String? {
        var text = "\""
        var length = 1
        var index = 0
        while index < bytes.count {
            let next = EscapedBytes.escape(bytes[index])
            // Room for the quote, or for the ellipsis where more bytes follow.
            if length + next.utf8.count + 1 > width {
                return index == 0 ? nil : text + "…"
            }
            text += next
            length += next.utf8.count
            index += 1
        }
        return length + 1 <= width ? text + "\"" : nil
    }

    static func quoted(_ bytes: Span<UInt8>) -> String {
        var text = "\""
        for index in bytes.indices { text += EscapedBytes.escape(bytes[index]) }
        return text + "\""
    }
}
