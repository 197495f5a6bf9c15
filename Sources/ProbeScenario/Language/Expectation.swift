package import ProbeBase

// What follows `expect`, for each kind of actor. `as` names are bound when the step has passed.

package enum ServerExpectation: Sendable {
    case noConnection(for: Duration)
}

package enum ConnectionExpectation: Sendable {
    case bytes(Expression)
    case line(Pattern, as: Name?)
    case linesInAnyOrder([(isOptional: Bool, pattern: Pattern)])
    case untilLine(Pattern, as: Name?)
    case count(Expression, as: Name?)
    case until(delimiter: Expression, as: Name?)
    case anyBytes(as: Name?)
    case integer(IntegerFormat, as: Name?)
    case urgent(Expression)
    case message(Pattern, as: Name?)
    case eof
    case reset
    case closed
    case nothing(for: Duration)
    case stalled(for: Duration)
    case sent
    /// The word behind `send failed`, such as `reset`.
    case sendFailed(reason: String?)
}

package enum SubjectExpectation: Sendable {
    case started
    case line(Pattern, as: Name?)
    case message(Pattern, as: Name?)
    case sent
    case leftover(Pattern, as: Name?)
    case data(Pattern, as: Name?)
    case bytes(Expression)
    case accept(as: Name)
    /// What the last op answered, such as `already-started`.
    case error(String)
    /// `eof reset refused timeout too-long …`; nil: any.
    case stopped(reason: String?)
    case nothing(for: Duration)
}

package enum ProcessExpectation: Sendable {
    case listening
    case output(RegexLiteral)
    case noOutput(RegexLiteral, for: Duration?)
    case exit(ExitExpectation)
    case memory(Comparison, Expression)
    case descriptors(Comparison, Expression)

    package enum ExitExpectation: Sendable {
        case any
        case status(Expression)
        case signal(ProcessSignal)
    }
}
