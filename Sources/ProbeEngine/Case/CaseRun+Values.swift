import ProbeEvents
import ProbeScenario
import ProbeSockets

extension CaseRun {
    /// - Parameter framing: in force where the expression stands; nil: the scenario's.
    func evaluator(_ framing: Framing? = nil) -> Evaluator {
        let scope = BoundScope(
            variables: StepContext.loop?.merged(over: variables) ?? variables,
            properties: { property, actor in self.property(property, of: actor)?.bytes },
            loader: FileAccess.load)
        return Evaluator(
            scope: scope, sources: sources, framing: framing ?? scenario.framing, seedOffset: settings.seed)
    }

    /// Binds a variable: the loop's of that name, if the step is in such a loop.
    func bind(_ name: String, _ value: Value) {
        variables[name] = value
        StepContext.loop?.owner(of: name)?.values[name] = value
    }

    func value(of expression: Expression) throws(Finding) -> Value {
        do throws(EvaluationError) { return try evaluator().evaluate(expression) } catch { throw finding(error) }
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
        var message: [UInt8] = []
        for piece in statement.pieces { message += try bytes(of: piece) }
        return message
    }

    func finding(_ error: EvaluationError) -> Finding {
        Finding(.error, at: error.span, error.reason.text, hints: error.reason.hint.map { [$0] } ?? [])
    }
}
