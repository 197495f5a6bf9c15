import ProbeBase
import ProbeEvents
import ProbeScenario

/// The names that a step reads, according to the step's text: names outside quotes, and names in `${…}`. Each step is
/// parsed once. This type has no side effects.
struct StepNames {
    private var names: [SourceSpan: [String]] = [:]

    /// Returns the names in the order in which they appear in the step, without duplicates. Names that the step binds
    /// (`as name`, `name = …`, a group of a regex) are not included.
    mutating func read(by step: Step, in sources: SourceMap) -> [String] {
        if let known = names[step.span] { return known }
        var found: [String] = []
        if step.span.file < sources.files.count {
            let bytes = sources.files[step.span.file].bytes
            if step.span.start <= step.span.end, step.span.end <= bytes.count {
                found = StepNames.names(in: bytes[step.span.start..<step.span.end])
            }
        }
        if case .assign(let name, _) = step.kind { found.removeAll { $0 == name.value } }
        names[step.span] = found
        return found
    }

    static func names(in text: ArraySlice<UInt8>) -> [String] {
        var found: [String] = []
        var rest = text
        var isQuoted = false
        // The nesting depth of `${` inside quotes.
        var depth = 0
        var before = ""
        var last: UInt8 = 0
        while let byte = rest.first {
            if isQuoted && depth == 0 {
                if byte == UInt8(ascii: "\\") { rest = rest.dropFirst() }
                if byte == UInt8(ascii: "\"") { isQuoted = false }
                if byte == UInt8(ascii: "$"), rest.dropFirst().first == UInt8(ascii: "{") {
                    depth = 1
                    rest = rest.dropFirst()
                }
                rest = rest.dropFirst()
                last = byte
                continue
            }
            if isLetter(byte) {
                let end =
                    rest.firstIndex { !isLetter($0) && $0 != UInt8(ascii: "-") && !(48...57).contains($0) }
                    ?? rest.endIndex
                let word = String(decoding: rest[..<end], as: UTF8.self)
                let isBound = before == "as" || last == UInt8(ascii: "<") || last == UInt8(ascii: ".")
                if !isBound, !found.contains(word) { found.append(word) }
                (before, last) = (word, UInt8(ascii: "a"))
                rest = rest[end...]
                continue
            }
            switch byte {
            case UInt8(ascii: "#") where !isQuoted: return found
            case UInt8(ascii: "\"") where depth == 0: isQuoted = true
            case UInt8(ascii: "{") where depth > 0: depth += 1
            case UInt8(ascii: "}") where depth > 0: depth -= 1
            default: break
            }
            if byte != 32 { (before, last) = ("", byte) }
            rest = rest.dropFirst()
        }
        return found
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
    }
}

extension NamedText {
    /// Creates the readable text of a value; `nil` if the value has no readable text.
    init?(_ name: String, _ value: Value) {
        switch value {
        case .integer(let number): self.init(name: name, text: String(number))
        case .unsigned(let number): self.init(name: name, text: String(number))
        case .bytes(let bytes): self.init(name: name, text: Escaped.readable(bytes, limit: 40))
        case .pieces(let pieces): self.init(name: name, text: Escaped.readable(pieces.whole, limit: 40))
        case .regex: return nil
        }
    }
}
