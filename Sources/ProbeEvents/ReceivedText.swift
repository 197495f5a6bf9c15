import ProbeBase

/// Composes the end of a summary that compares received bytes with expected ones, such as `received "HELO", expected
/// line "EHLO"`.
///
/// A value is quoted only if it is short, because the report shows all bytes below the summary. Findings are grouped by
/// their summaries without these values, so this type also removes the values from a summary.
package enum ReceivedText {
    /// The maximum length of a quoted value, in characters.
    private static let longest = 40
    private static let unexpected = "unexpected bytes"

    /// Compares bytes: `"QUIT\r\n", expected "QUIT\n"`, or `unexpected bytes; first difference at byte 5` if one of the
    /// values is too long.
    package static func bytes(_ received: [UInt8], expected: [UInt8]) -> String {
        if let received = quoted(received), let expected = quoted(expected) { return comparison(received, expected) }
        let count = min(received.count, expected.count)
        let index = (0..<count).first { received[$0] != expected[$0] } ?? count
        return "\(unexpected); first difference at byte \(index + 1)"
    }

    /// Compares bytes with a description: `"HELO", expected line "EHLO"`, or `unexpected bytes, expected line "EHLO"`
    /// if the received bytes are too long.
    package static func value(_ received: [UInt8], expected description: String) -> String {
        comparison(quoted(received) ?? unexpected, description)
    }

    /// Returns a summary without the values that it compares. The result is equal for two findings of one step, whether
    /// or not their values were short enough to be quoted.
    static func withoutValues(_ summary: String, expected: [UInt8]?, actual: [UInt8]?) -> String {
        guard let actual else { return summary }
        if let expected {
            let text = summary.replacing(
                " \(bytes(actual, expected: expected))", with: " \(unexpected)", maxReplacements: 1)
            if text != summary { return text }
        }
        guard let quoted = quoted(actual) else { return summary }
        return summary.replacing(
            " \(comparison(quoted, ""))", with: " \(comparison(unexpected, ""))", maxReplacements: 1)
    }

    private static func comparison(_ received: String, _ expected: String) -> String {
        "\(received), expected \(expected)"
    }

    /// Returns the bytes in quotes; `nil` if the quoted text would be too long.
    private static func quoted(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= longest else { return nil }
        let text = Escaped.readable(bytes)
        return text.count <= longest + 2 ? text : nil
    }
}
