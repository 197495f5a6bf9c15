import ProbeEvents
import ProbeScenario
import ProbeSockets

extension CaseRun {
    private var evaluator: Evaluator<CaseScope> {
        Evaluator(scope: CaseScope(run: self), framing: scenario.framing)
    }

    func value(of expression: Expression) throws(Finding) -> Value {
        fatalError()
    }
    func bytes(of expression: Expression) throws(Finding) -> [UInt8] {
        fatalError()
    }
    func integer(of expression: Expression) throws(Finding) -> Int {
        fatalError()
    }
    func regex(_ literal: RegexLiteral) throws(Finding) -> ByteRegex {
        fatalError()
    }
}
