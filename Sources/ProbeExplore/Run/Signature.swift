package import ProbeEvents
package import ProbeScenario

/// Identifies a kind of failure by its location in the script, its verdict, and its message without values and numbers.
package struct Signature: Hashable, Sendable {
    package var span: SourceSpan?
    package var verdict: Verdict
    package var reason: String
    /// The way in which the program ended, if the failure is that the program ended; otherwise `nil`.
    package var end: UnexpectedEnd?

    package init(span: SourceSpan?, verdict: Verdict, reason: String, end: UnexpectedEnd? = nil) {
        self.span = span
        self.verdict = verdict
        self.reason = reason
        self.end = end
    }

    /// Creates the signature of a result; `nil` if the case passed or the result is inconclusive.
    package init?(_ result: CaseResult) {
        guard result.verdict == .failed || result.verdict == .error, !result.isInterrupted,
            let first = result.findings.first
        else { return nil }
        self.init(span: first.span, verdict: first.verdict, reason: first.words, end: first.unexpectedEnd)
    }
}

/// A failure of a scenario: its signature, and its expected and actual values. Parts of the values that vary between
/// runs, such as a session number or a time, are masked.
package struct ShownFailure: Sendable, Equatable {
    package var signature: Signature
    /// The message with its values, such as a status, a count or a name, but without the bytes that were compared.
    package var message: MaskedValue
    package var expected: MaskedValue
    package var actual: MaskedValue

    /// Creates a failure from the results that have its signature.
    ///
    /// - Parameter results: the results of several runs of one candidate.
    package init(_ signature: Signature, in results: [CaseResult]) {
        self.signature = signature
        let findings = results.filter { Signature($0) == signature }.compactMap(\.findings.first)
        message = MaskedValue(findings.map { Self.withoutTimes($0.general) })
        expected = MaskedValue(findings.map(\.expected))
        actual = MaskedValue(findings.map(\.actual))
    }

    /// Returns whether a result shows this failure: it must have the same signature and, except for masked parts, the
    /// same values.
    package func matches(_ result: CaseResult) -> Bool {
        guard Signature(result) == signature, let first = result.findings.first else { return false }
        return message.matches(Self.withoutTimes(first.general)) && expected.matches(first.expected)
            && actual.matches(first.actual)
    }

    /// Returns the text with each number that has a unit of time replaced by a placeholder. Times are always masked,
    /// because even ten runs can have the same time by chance.
    private static func withoutTimes(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let number = bytes[index...].prefix { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
            let rest = bytes[(index + number.count)...].drop { $0 == 32 }
            let isTime = ["ms", "s", "us", "µs"].contains { unit in
                rest.starts(with: unit.utf8)
                    && rest.dropFirst(unit.utf8.count).first.map { !(97...122).contains($0) } ?? true
            }
            if !number.isEmpty, isTime {
                result.append(UInt8(ascii: "#"))
                index += number.count
            } else if number.isEmpty {
                result.append(bytes[index])
                index += 1
            } else {
                result += number
                index += number.count
            }
        }
        return result
    }
}
