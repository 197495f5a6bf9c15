/// Text from outside in a message: what is no printable character is escaped, so that no control sequence reaches a terminal.
enum SafeText {
    /// - Parameter limit: bytes shown; of a longer text the length is said too.
    static func of(_ bytes: some Collection<UInt8>, limit: Int) -> String {
        var text = ""
        for scalar in String(decoding: bytes.prefix(limit), as: UTF8.self).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return bytes.count > limit ? "\(text)… (\(bytes.count) bytes)" : text
    }
}
