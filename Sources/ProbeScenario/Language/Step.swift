package import ProbeBase

/// One statement of the timeline.
package struct Step: Sendable {
    /// The step's number in the order of the script (a block before its contents); unique in the scenario.
    package var id: Int
    package var kind: Kind
    /// The span of the whole statement; for a block, its first line.
    package var span: SourceSpan
    /// The place to which the caret points when the step fails: usually the value or the verb.
    package var focus: SourceSpan
    /// Whether the step has the clause `if needed`, which means that the step need not take effect.
    package var isOptional = false

    package init(id: Int, kind: Kind, span: SourceSpan, focus: SourceSpan) {
        self.id = id
        self.kind = kind
        self.span = span
        self.focus = focus
    }

    package indirect enum Kind: Sendable {
        case wait(Duration)
        case note(Expression)
        case assign(Name, Expression)
        case check(Expression, CheckOperator, CheckOperand)
        /// A loop: `for i in 1..100 { … }`.
        case loop(names: [Name], LoopSource, Block)
        /// Runs a definition: `do login`.
        case invoke(Name)
        /// A group of steps: `do { … }`.
        case sequence(Block)
        case together(Block)
        case either([Block])
        case retry(every: Duration, within: Duration, Block)
        case finally(Block)
        /// A rule: `whenever C gets line /re/ { … }`.
        case whenever(connection: Name, RegexLiteral, Block)
        case act(actor: Name, Action, Timing)
        case wire(WireStatement<Parsed>, Timing)
        case link(LinkStep)
        case name(NameStatement)
    }

    /// Whether the clause `if needed` is allowed: the step sets up something that must take effect before the case
    /// ends, unless the clause is given.
    var canBeUnneeded: Bool {
        switch kind {
        case .link, .whenever, .name: true
        case .act(_, .proxy(let action), _): action.canBeUnneeded
        case .act(_, .connection(.vanish), _): true
        case .act(_, .subject(.framing(_, behind: .some)), _): true
        case .act, .wait, .note, .assign, .check, .loop, .invoke, .sequence, .together, .either, .retry, .finally,
            .wire:
            false
        }
    }

    package enum LoopSource: Sendable {
        case range(Expression, Expression)
        case table(Name)
    }

    package enum CheckOperator: Sendable, Equatable {
        case compare(Comparison)
        case contains, lacks, matches
    }

    package enum CheckOperand: Sendable {
        case value(Expression)
        case regex(RegexLiteral)
    }
}

/// The steps between braces, with their place in the script.
package struct Block: Sendable {
    package var steps: [Step]
    package var span: SourceSpan

    package init(steps: [Step], span: SourceSpan) {
        self.steps = steps
        self.span = span
    }
}

/// The timing clauses of a step: `within 200ms`, `after 50ms`.
package struct Timing: Sendable, Equatable {
    package var within: Duration?
    package var after: Duration?

    package init(within: Duration? = nil, after: Duration? = nil) {
        self.within = within
        self.after = after
    }
}

/// A signal: its name without `SIG` (`TERM`) and its number on Linux.
package struct ProcessSignal: Sendable, Equatable {
    package var name: String
    package var number: Int32

    package init(name: String, number: Int32) {
        self.name = name
        self.number = number
    }
}

/// A send: `send …`, `send line …`, `send urgent …`, `start sending …`.
package struct SendStatement: Sendable {
    package enum Mode: Sendable {
        case bytes, line, urgent
        /// Sends bytes without encryption, bypassing TLS: `send plaintext`.
        case plaintext
    }

    package var mode: Mode
    /// Whether the step is a `start sending`, which completes immediately; `expect sent` then waits for the send.
    package var inBackground: Bool
    /// The values that are separated by `|`; there is at least one.
    package var pieces: [Expression]
    package var cut: Cut<Parsed>?
    package var pace: Pace?
    /// The length of the TLS records into which the plaintext is divided: `in records of 1B`.
    package var recordLength: Expression?
    /// Whether the FIN is sent in the same segment as the last piece: `with fin`.
    package var carriesFIN = false

    package init(mode: Mode, inBackground: Bool, pieces: [Expression], cut: Cut<Parsed>?, pace: Pace?) {
        self.mode = mode
        self.inBackground = inBackground
        self.pieces = pieces
        self.cut = cut
        self.pace = pace
    }
}
