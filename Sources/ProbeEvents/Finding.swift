package import ProbeBase
package import ProbeScenario

/// The reason why a case did not pass, as sentences and bytes that are independent of a report's layout.
package struct Finding: Error, Sendable {
    package var verdict: Verdict
    /// The finding's location in the script; `nil` if the finding applies to the whole case.
    package var span: SourceSpan?
    /// A description of the failure, in one line.
    package var summary: String
    /// The expected bytes, not escaped. `actual` contains the actual bytes.
    package var expected: [UInt8]?
    package var actual: [UInt8]?
    /// Further sentences about the failure, one per line.
    package var details: [String]
    /// Hints about near misses, and about what to do next.
    package var hints: [String]
    /// What each of the other actors was doing or waiting for.
    package var actors: [ActorState]
    /// The rounds of the loops around the step, the outermost first; `nil` until the step is known.
    package var rounds: [LoopRound]?
    /// The way in which a program ended unexpectedly; `nil` for any other finding.
    package var unexpectedEnd: UnexpectedEnd?
    /// The amount by which a crowd's latency exceeds its limit; `nil` for any other finding.
    package var excess: Excess?
    /// Whether the expected event did not happen before a deadline, so it might have happened later.
    package var isMissedDeadline = false
    /// The time at which the known facts proved the finding; `nil` if that is the time at which the finding was made.
    package var decided: MonotonicTime?

    package init(
        _ verdict: Verdict, at span: SourceSpan? = nil, _ summary: String, expected: [UInt8]? = nil,
        actual: [UInt8]? = nil, details: [String] = [], hints: [String] = [], actors: [ActorState] = []
    ) {
        self.verdict = verdict
        self.span = span
        self.summary = summary
        self.expected = expected
        self.actual = actual
        self.details = details
        self.hints = hints
        self.actors = actors
    }
}

extension Finding {
    /// The summary without the compared values, which are in `expected` and `actual`.
    package var general: String { ReceivedText.withoutValues(summary, expected: expected, actual: actual) }

    /// The summary without quoted parts and without digits, so that it is equal for two findings that differ only in
    /// values.
    package var words: String {
        var words: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in general.utf8 {
            if isQuoted {
                if byte == UInt8(ascii: "\""), !isEscaped { isQuoted = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted = true }
            if !(48...57).contains(byte) { words.append(byte) }
        }
        // The plural is replaced with the singular, because the count on which it depends was removed.
        var followsNumber = false
        return String(decoding: words, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            .map { word in
                defer { followsNumber = word.isEmpty }
                if word == "are" || word == "were" { return word == "are" ? "is" : "was" }
                return followsNumber && word.hasSuffix("s") ? String(word.dropLast()) : String(word)
            }.joined(separator: " ")
    }
}

extension Finding {
    /// A crowd's latency that exceeds its limit.
    package struct Excess: Sendable {
        package var actor: String
        package var limit: Duration
        /// The amount by which the crowd's latency exceeds its limit.
        package var time: Duration
        /// Whether the latency includes a program's response. The latency of `connect` does not, because the kernel
        /// alone establishes a connection.
        package var needsAnswer: Bool

        package init(actor: String, limit: Duration, time: Duration, needsAnswer: Bool) {
            (self.actor, self.limit, self.time, self.needsAnswer) = (actor, limit, time, needsAnswer)
        }
    }
}

/// An actor and what it was doing when the case ended.
package struct ActorState: Sendable, Equatable {
    package var name: String
    package var state: String

    package init(name: String, state: String) {
        self.name = name
        self.state = state
    }
}

/// The way in which a program ended unexpectedly.
package enum UnexpectedEnd: Sendable, Hashable {
    case status(Int32)
    case signal(Int32)
}
