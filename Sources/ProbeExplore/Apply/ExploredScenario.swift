import ProbeBase
package import ProbeEngine
package import ProbeScenario

/// A scenario prepared for candidates: its text in one file, the statements about cuts left out, and the sends that may be varied.
package struct ExploredScenario {
    /// As the script says it.
    package let original: Scenario
    /// Without what is left out, and without the cuts that are part of the variation.
    package private(set) var scenario: Scenario
    /// The text of the script. All spans point into it.
    package let bytes: [UInt8]
    /// Steps that say how something was cut.
    package let leftOut: Set<Int>
    /// What is told of them: place and text.
    package let leftOutTexts: [String]
    package let sites: [SendSite]
    package let reading: ReadingSites
    /// The script's own cuts, where they are what is shrunk; empty where they stay.
    package private(set) var ownVariation = Variation()
    /// Sends whose cut clauses were taken off.
    private(set) var uncut: Set<Int> = []
    /// What a send sends, where its value has the cuts in itself.
    private(set) var literals: [Int: [UInt8]] = [:]
    /// `each` statements and the lines that stand for the case's values.
    let fixedParameters: [(parameter: Parameter, text: String)]

    /// - Parameters:
    ///   - observations: what the steps of a run of the plan's case did.
    ///   - takesCutsOff: whether the script's own cuts are the variation.
    package init(
        _ plan: Plan, _ casePlan: CasePlan, observations: [StepObservation], takesCutsOff: Bool = false
    ) {
        original = plan.scenario
        bytes = plan.sources.files[0].bytes
        let steps = takesCutsOff ? [] : plan.scenario.stepsAboutCuts
        let leftOut = Set(steps.map(\.id))
        self.leftOut = leftOut
        leftOutTexts = steps.map { "\(plan.sources.location(of: $0.span)): \(plan.sources.text(of: $0.span))" }
        scenario = plan.scenario.rewritten { leftOut.contains($0.id) ? [] : [$0] }
        fixedParameters = Self.fixed(plan.scenario.parameters, casePlan.bindings)
        var observations = observations
        if takesCutsOff {
            let removal = CutRemoval(scenario, observations: observations)
            (scenario, observations) = (removal.scenario, removal.observations)
            (ownVariation, uncut, literals) = (removal.variation, removal.uncut, removal.literals)
        }
        sites = SendSites(scenario, observations: observations).sites
        reading = ReadingSites(scenario, observations: observations)
    }

    /// The first step that a variation changes.
    package func place(of variation: Variation) -> SourceSpan? {
        let steps = Set(variation.changes.compactMap(\.step))
        return original.allSteps.first { steps.contains($0.id) }?.span
    }

    func sourceText(_ range: Range<Int>) -> String {
        String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
    }

    private static func fixed(
        _ parameters: [Parameter], _ bindings: [String: Value]
    ) -> [(parameter: Parameter, text: String)] {
        parameters.compactMap { parameter in
            var lets: [String] = []
            for name in parameter.names {
                switch bindings[name.value] {
                case .integer(let value): lets.append("let \(name.value) = \(value)")
                case .unsigned(let value): lets.append("let \(name.value) = \(value)")
                case .bytes(let bytes): lets.append("let \(name.value) = \"\(StreamStatements.escaped(bytes))\"")
                case .pieces, .regex, nil: return nil
                }
            }
            return (parameter, lets.joined(separator: "\n"))
        }
    }
}
