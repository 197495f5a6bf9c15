import ProbeBase
import ProbeEvents

/// A message of the argument parser, which quotes arguments as they are.
enum EchoedArguments {
    /// The message with nothing in it that a terminal would act on. Its own line breaks stay; those of an argument do not, so that
    /// no argument can look like a message of its own.
    static func safe(_ message: String, arguments: [String]) -> String {
        var quoted: Set<String> = []
        for argument in arguments {
            quoted.insert(argument)
            // `--option=value`, and `-jvalue`.
            if let sign = argument.firstIndex(of: "=") {
                quoted.insert(String(argument[argument.index(after: sign)...]))
            }
            if argument.hasPrefix("-") { quoted.insert(String(argument.dropFirst(2))) }
        }
        var bytes = Array(message.utf8)
        // The longest first: one may be a part of another.
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
