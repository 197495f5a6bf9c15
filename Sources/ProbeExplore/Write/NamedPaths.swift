import ProbeBase
import ProbeScenario

/// Finds the file names in a script: in `file(…)`, and after `cert`, `key` and `ca` in TLS options.
///
/// Only words that the language interprets as a file name are found, not the text of comments and strings.
struct NamedPaths {
    /// A position in the script that contains a file name.
    struct Place {
        /// The offset before the path, at which a folder can be inserted.
        var start: Int
        /// The range of the variable, if the argument consists of nothing but a variable. Such an argument must be
        /// rewritten as a string that interpolates the variable (`"${x}"`).
        var variable: Range<Int>?
        /// The path; `nil` if it can't be determined before the script runs.
        var path: String?
    }

    private(set) var places: [Place] = []

    /// Finds the file names in a script.
    ///
    /// - Parameter value: a function that returns the value of a variable; `nil` if the value is unknown before the
    ///   script runs.
    init(_ outline: ScriptOutline, value: (String) -> String? = { _ in nil }) {
        let tokens = outline.tokens
        for (index, token) in tokens.enumerated() where token.kind == .word {
            guard index + 1 < tokens.count else { break }
            let argument: Int
            var isWhole = true
            switch outline.text(of: token) {
            case Function.file.rawValue where tokens[index + 1].kind == .leftParenthesis && index + 3 < tokens.count:
                argument = index + 2
                isWhole = tokens[index + 3].kind == .rightParenthesis
            case "cert", "key", "ca": argument = index + 1
            default: continue
            }
            let named = tokens[argument]
            let (start, end) = (Int(named.start), Int(named.end))
            switch named.kind {
            case .string, .rawString:
                guard end - start > 2 else { continue }
                let text = outline.bytes[(start + 1)..<(end - 1)]
                let path = named.kind == .rawString ? String(decoding: text, as: UTF8.self) : Self.text(text, value)
                places.append(Place(start: start + 1, path: isWhole ? path : nil))
            case .word where isWhole && argument == index + 2:
                let name = outline.text(of: named)
                places.append(Place(start: start, variable: start..<end, path: value(name)))
            default: continue
            }
        }
    }

    /// Inserts a folder before a path in the script.
    func prefix(_ place: Place, with folder: String, in outline: ScriptOutline, _ edits: inout TextEdits) {
        if let variable = place.variable {
            let name = String(decoding: outline.bytes[variable], as: UTF8.self)
            edits.replace(variable, with: "\"\(StreamStatements.escaped(Array(folder.utf8)))/${\(name)}\"")
        } else {
            edits.replace(place.start..<place.start, with: StreamStatements.escaped(Array(folder.utf8)) + "/")
        }
    }

    /// Returns the value of a string; `nil` if the value is unknown before the script runs, or if the string has
    /// escapes other than those for a quote, a backslash or a dollar sign.
    private static func text(_ bytes: ArraySlice<UInt8>, _ value: (String) -> String?) -> String? {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                guard let next = rest.popFirst(), "\\\"$".utf8.contains(next) else { return nil }
                result.append(next)
            } else if byte == UInt8(ascii: "$"), rest.first == UInt8(ascii: "{") {
                guard let close = rest.firstIndex(of: UInt8(ascii: "}")),
                    let text = value(String(decoding: rest[(rest.startIndex + 1)..<close], as: UTF8.self))
                else { return nil }
                result += Array(text.utf8)
                rest = rest[(close + 1)...]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
