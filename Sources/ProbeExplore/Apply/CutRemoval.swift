import ProbeBase
import ProbeEngine
import ProbeScenario

/// Removes the cuts from a scenario's sends. The bytes that the scenario sends are unchanged, and the cuts become a
/// variation.
struct CutRemoval {
    private(set) var scenario: Scenario
    /// The observations of the sends, as they would be without the cuts.
    private(set) var observations: [StepObservation] = []
    private(set) var variation = Variation()
    /// The sends from which a cut clause or `|` was removed.
    private(set) var uncut: Set<Int> = []
    /// The bytes of each send whose value itself contains the cuts.
    private(set) var literals: [Int: [UInt8]] = [:]

    init(_ scenario: Scenario, observations: [StepObservation]) {
        self.scenario = scenario
        var sent: [Int: [[[UInt8]]]] = [:]
        for observation in observations {
            if case .sent(let pieces) = observation.event { sent[observation.step, default: []].append(pieces) }
        }
        for step in scenario.allSteps {
            guard case .act(_, .connection(.send(let statement)), _) = step.kind, let pieces = sent[step.id]?.first,
                Self.mayLose(statement)
            else { continue }
            if statement.cut != nil || statement.pieces.count > 1 {
                uncut.insert(step.id)
            } else if pieces.count > 1 {
                literals[step.id] = pieces.whole
            } else {
                continue
            }
            var offset = 0
            for piece in pieces.dropLast() {
                offset += piece.count
                variation.add(.cut(send: step.id, at: offset))
            }
            if case .every(let pause)? = statement.pace, pieces.count > 1 { variation.pauses[step.id] = pause }
        }
        let (uncut, literals) = (uncut, literals)
        self.scenario = scenario.rewritten { [Self.whole($0, uncut, literals)] }
        self.observations = observations.map { observation in
            var observation = observation
            if case .sent(let pieces) = observation.event, uncut.union(literals.keys).contains(observation.step) {
                observation.event = .sent([pieces.whole])
            }
            return observation
        }
    }

    /// Returns whether the cuts of a send may be removed. The cuts of a rate-limited send have no offsets that could be
    /// shrunk.
    private static func mayLose(_ statement: SendStatement) -> Bool {
        if case .rate? = statement.pace { return false }
        return statement.recordLength == nil && !statement.carriesFIN
            && (statement.mode == .bytes || statement.mode == .line)
    }

    private static func whole(_ step: Step, _ uncut: Set<Int>, _ literals: [Int: [UInt8]]) -> Step {
        guard case .act(let actor, .connection(.send(var statement)), let timing) = step.kind else { return step }
        if let literal = literals[step.id] {
            statement.pieces = [Expression(.hex(literal), span: statement.pieces[0].span)]
            statement.mode = .bytes
        } else if uncut.contains(step.id) {
            statement.cut = nil
            var value = statement.pieces[0]
            for piece in statement.pieces.dropFirst() { value = Expression(.add(value, piece), span: value.span) }
            statement.pieces = [value]
        } else {
            return step
        }
        statement.pace = nil
        var step = step
        step.kind = .act(actor: actor, .connection(.send(statement)), timing)
        return step
    }
}

extension [[UInt8]] {
    /// The concatenation of all pieces.
    fileprivate var whole: [UInt8] { flatMap(\.self) }
}
