import ProbeBase
import ProbeEvents

/// Sanitizes the argument parser's messages, in which arguments are quoted without being escaped.
enum EchoedArguments {
    /// Returns the message with each argument escaped for a terminal. Line breaks in the message itself are kept, but
    /// line breaks in arguments are escaped, so that an argument can't look like a message.
    static func safe(_ message: String, arguments: [String]) -> String {
        var quoted: Set<String> = []
        for argument in arguments {
            quoted.insert(argument)
            // For `--option=value` and `-jvalue`, the message may quote the value without the option.
            if let sign = argument.firstIndex(of: "=") {
                quoted.insert(String(argument[argument.index(after: sign)...]))
            }
            if argument.hasPrefix("-") { quoted.insert(String(argument.dropFirst(2))) }
        }
        var bytes = Array(message.utf8)
        // Longer arguments are replaced first, because an argument may be part of another argument.
        for text in quoted.sorted(by: { $0.utf8.count > $1.utf8.count })
        where text.utf8.contains(10) || text.utf8.contains(13) {
            bytes = replaced(Array(text.utf8), in: bytes, with: Array(Escaped.text(text.utf8).utf8))
        }
        return bytes.split(separator: 10, omittingEmptySubsequences: false).map { Escaped.text($0) }
            .joined(separator: "\n")
    }

    private static func replaced(_ text: [UInt8], in bytes: [UInt8], with other: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if rest.starts(with: text) {
                result += other
                rest = rest.dropFirst(text.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
