import ProbeBase
package import ProbeEngine
package import ProbeScenario

/// A scenario that is prepared for candidates: its text is in one file, it has no steps that judge cuts, and the sends
/// that may be varied are known.
package struct ExploredScenario {
    /// The scenario as defined by the script.
    package let original: Scenario
    /// The scenario without the steps that are left out, and without the cuts that the variation contains.
    package private(set) var scenario: Scenario
    /// The text of the script, to which all spans refer.
    package let bytes: [UInt8]
    /// The numbers of the steps that are left out because they judge how a stream was cut.
    package let leftOut: Set<Int>
    /// The location and the text of each step that is left out, for reports.
    package let leftOutTexts: [String]
    package let sites: [SendSite]
    package let reading: ReadingSites
    /// The script's own cuts if they are to be shrunk; empty if the scenario keeps them.
    package private(set) var ownVariation = Variation()
    /// The sends from which a cut clause was removed.
    private(set) var uncut: Set<Int> = []
    /// The bytes of each send whose value itself contains the cuts.
    private(set) var literals: [Int: [UInt8]] = [:]
    /// The `each` statements, and the lines with the case's values that replace them.
    let fixedParameters: [(parameter: Parameter, text: String)]

    /// Prepares one case of a script.
    ///
    /// - Parameters:
    ///   - observations: what the steps did in runs of the case.
    ///   - takesCutsOff: whether the script's own cuts are removed and become the variation.
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

    /// Returns the location of the first step that a variation changes; `nil` if the variation changes no step.
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
