package import ProbeEvents
package import ProbeScenario

/// What makes two failures one: the place in the script, the verdict, and what is said apart from values and numbers.
package struct Signature: Hashable, Sendable {
    package var span: SourceSpan?
    package var verdict: Verdict
    package var reason: String

    package init(span: SourceSpan?, verdict: Verdict, reason: String) {
        self.span = span
        self.verdict = verdict
        self.reason = reason
    }

    /// The signature of a result; nil if it passed, or if it says nothing for sure.
    package init?(_ result: CaseResult) {
        guard result.verdict == .failed || result.verdict == .error, !result.isInterrupted,
            let first = result.findings.first
        else { return nil }
        self.init(span: first.span, verdict: first.verdict, reason: Self.words(of: first.summary))
    }

    /// The text without what is quoted and without digits.
    static func words(of text: String) -> String {
        var words: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if isQuoted {
                if byte == UInt8(ascii: "\""), !isEscaped { isQuoted = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else if byte == UInt8(ascii: "\"") {
                isQuoted = true
            } else if !(48...57).contains(byte) {
                words.append(byte)
            }
        }
        return String(decoding: words, as: UTF8.self)
    }
}
