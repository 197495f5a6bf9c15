import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    /// - Parameter framing: in force where the expression stands; nil: the scenario's.
    func evaluator(_ framing: Framing? = nil) -> Evaluator {
        let scope = CaseScope(
            variables: variables, loop: StepContext.loop,
            properties: { property, actor in self.property(property, of: actor)?.bytes })
        return Evaluator(
            scope: scope, sources: sources, framing: framing ?? scenario.framing, seedOffset: settings.seed)
    }

    /// Binds a variable: the loop's of that name, if the step is in such a loop.
    func bind(_ name: String, _ value: Value) {
        set(name, value)
        StepContext.loop?.owner(of: name)?.values[name] = value
    }

    /// Sets a variable of the case. What they hold together is bounded; beyond it the case ends.
    func set(_ name: String, _ value: Value) {
        variableSize += value.size - (variables[name]?.size ?? 0)
        variables[name] = value
        if variableSize > Evaluator.largestCase {
            raise(
                Finding(
                    .error, "the variables of the case hold more than 512 MiB together, with `\(name)`",
                    hints: ["a value that is written where it is sent is in memory only then"]))
        }
    }

    /// The header's `let`s that were not computed before the run: those that need it (`"${S.port}"`), and the large ones.
    func computeConstants() throws(Finding) {
        variableSize = variables.values.reduce(0) { $0 + $1.size }
        for constant in scenario.constants where variables[constant.name.value] == nil {
            do throws(EvaluationError) {
                set(constant.name.value, try evaluated(constant.value))
            } catch {
                switch error.reason {
                // At its use the script says too little.
                case .unbound, .noProperty: continue
                default: throw finding(error)
                }
            }
            try checkFault()
        }
    }

    func value(of expression: Expression) throws(Finding) -> Value {
        do throws(EvaluationError) { return try evaluated(expression) } catch { throw finding(error) }
    }

    /// In a function of its own: a scope that lived on would make the next assignment copy all variables.
    private func evaluated(_ expression: Expression) throws(EvaluationError) -> Value {
        try evaluator().evaluate(expression)
    }

    func bytes(of expression: Expression) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: expression) } catch { throw finding(error) }
    }

    func bytes(of pieces: [StringPiece], at span: SourceSpan) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: pieces, span: span) } catch {
            throw finding(error)
        }
    }

    func integer(of expression: Expression) throws(Finding) -> Int {
        do throws(EvaluationError) { return try evaluator().integer(of: expression) } catch { throw finding(error) }
    }

    func regex(_ literal: RegexLiteral) throws(Finding) -> ByteRegex {
        do throws(EvaluationError) { return try evaluator().regex(of: literal) } catch { throw finding(error) }
    }

    /// The pieces of a `send`; one empty piece where it sends nothing.
    func pieces(of statement: SendStatement, framing: Framing) throws(Finding) -> [[UInt8]] {
        do throws(EvaluationError) {
            let pieces = try evaluator(framing).pieces(of: statement)
            return pieces.isEmpty ? [[]] : pieces
        } catch {
            throw finding(error)
        }
    }

    /// The value of a `send` without its terminator: a subject frames its messages itself.
    func message(of statement: SendStatement) throws(Finding) -> [UInt8] {
        var pieces: [[UInt8]] = []
        for piece in statement.pieces { pieces.append(try bytes(of: piece)) }
        return pieces.whole
    }

    func finding(_ error: EvaluationError) -> Finding {
        Finding(.error, at: error.span, error.reason.text, hints: error.reason.hint.map { [$0] } ?? [])
    }
}

/// The names of a case: those of the loops around the step before all others.
private struct CaseScope: EvaluationScope {
    let variables: [String: Value]
    let loop: LoopScope?
    let properties: (_ property: String, _ actor: String) -> [UInt8]?

    func value(of name: String) -> Value? { loop?.value(of: name) ?? variables[name] }
    func property(_ property: String, of actor: String) -> [UInt8]? { properties(property, actor) }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try FileAccess.load(file) }
}
