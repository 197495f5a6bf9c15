import ProbeBase
import ProbeEvents
import ProbeScenario

/// The names of a case: those of the loops around the step before all others.
///
/// The context itself is the scope of its expressions: a value that is evaluated needs no copy of the variables.
extension CaseContext: EvaluationScope {
    func value(of name: String) -> Value? { variables.value(of: name, in: StepContext.loop) }
    func property(_ property: String, of actor: String) -> [UInt8]? { actors.property(property, of: actor)?.bytes }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try FileAccess.load(file) }
}

extension CaseContext {
    /// - Parameter framing: in force where the expression stands; nil: the scenario's.
    func evaluator(_ framing: Framing? = nil, isClient: Bool = false) -> Evaluator {
        Evaluator(
            scope: self, sources: sources, framing: framing ?? scenario.framing, seedOffset: settings.seed,
            masksFrames: isClient, ranges: scenario.integerRanges)
    }

    /// Binds a variable: the loop's of that name, if the step is in such a loop.
    func bind(_ name: String, _ value: Value) {
        if let finding = variables.bind(name, value, in: StepContext.loop) { raise(finding) }
    }

    /// Sets a variable of the case.
    func set(_ name: String, _ value: Value) {
        if let finding = variables.set(name, value) { raise(finding) }
    }

    /// The header's `let`s that were not computed before the run: those that need it (`"${S.port}"`), and the large ones.
    func computeConstants() throws(Finding) {
        for constant in scenario.constants where variables.values[constant.name.value] == nil {
            do throws(EvaluationError) {
                set(constant.name.value, try evaluator().evaluate(constant.value))
            } catch {
                switch error.reason {
                // The value needs something that is known later: its use is judged then.
                case .unbound, .noProperty: continue
                default: throw Finding(error)
                }
            }
            try checkFault()
        }
    }

    func value(of expression: Expression) throws(Finding) -> Value {
        do throws(EvaluationError) { return try evaluator().evaluate(expression) } catch { throw Finding(error) }
    }

    func bytes(of expression: Expression) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: expression) } catch { throw Finding(error) }
    }

    /// The absolute path of a file that the script names, for a program that reads it itself.
    ///
    /// - Throws: if it can't be read, or is outside of the script's folder.
    func path(ofScriptFile expression: Expression) throws(Finding) -> String {
        let name = String(decoding: try bytes(of: expression), as: UTF8.self)
        do throws(EvaluationError) {
            let file = try evaluator().file(name, saidAt: expression.span)
            do throws(LoadError) {
                _ = try contents(of: file)
            } catch {
                throw EvaluationError(.file(name, error), span: expression.span)
            }
            return job.folder == "/" ? "/\(file.path)" : "\(job.folder)/\(file.path)"
        } catch {
            throw Finding(error)
        }
    }

    func bytes(of pieces: [StringPiece], at span: SourceSpan) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: pieces, span: span) } catch {
            throw Finding(error)
        }
    }

    func integer(of expression: Expression) throws(Finding) -> Int {
        do throws(EvaluationError) { return try evaluator().integer(of: expression) } catch { throw Finding(error) }
    }

    /// An integer as a field of the wire has it.
    ///
    /// Which values a statement takes is said where the check reads it, and the evaluator refuses any other.
    func integer<Field: FixedWidthInteger>(of expression: Expression, as _: Field.Type) throws(Finding) -> Field {
        let value = try integer(of: expression)
        guard let field = Field(exactly: value) else {
            throw Finding(.error, at: expression.span, "\(value) does not fit in \(Field.bitWidth) bits")
        }
        return field
    }

    func regex(_ literal: RegexLiteral) throws(Finding) -> ByteRegex {
        do throws(EvaluationError) { return try evaluator().regex(of: literal) } catch { throw Finding(error) }
    }

    /// The value of a `send` without its terminator: a subject frames its messages itself.
    func message(of statement: SendStatement) throws(Finding) -> [UInt8] {
        var pieces: [[UInt8]] = []
        for piece in statement.pieces { pieces.append(try bytes(of: piece)) }
        return pieces.whole
    }
}

extension Finding {
    /// A value of the script that can't be computed.
    ///
    /// What a field of protobuf is read from came from a peer: that it is not there is the peer's failure. That it
    /// is larger than what a step can compute with is a limit of the harness.
    init(_ error: EvaluationError) {
        let hints = error.reason.hint.map { [$0] } ?? []
        switch error.reason {
        case .protobuf(let failure, let message) where !failure.isLimit:
            self.init(.failed, at: error.span, error.reason.text, actual: message, hints: hints)
        default: self.init(.error, at: error.span, error.reason.text, hints: hints)
        }
    }
}

extension Evaluator {
    /// The pieces of a `send`; one empty piece where it sends nothing.
    func sentPieces(of statement: SendStatement) throws(Finding) -> [[UInt8]] {
        do throws(EvaluationError) {
            let pieces = try pieces(of: statement)
            return pieces.isEmpty ? [[]] : pieces
        } catch {
            throw Finding(error)
        }
    }
}
