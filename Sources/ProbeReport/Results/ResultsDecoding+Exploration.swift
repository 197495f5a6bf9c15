import ProbeBase
import ProbeEvents

extension ResultsDecoding {
    /// What `explore` and `shrink` found out, as ``JSONEncoding`` writes it.
    static func exploration(_ fields: ResultsFields) throws(ResultsProblem) -> Exploration {
        var written: [Exploration.WrittenScenario] = []
        for value in try fields.list("written") {
            let scenario = try ResultsFields(value)
            written.append(
                Exploration.WrittenScenario(
                    path: try scenario.text("path"), sentence: try scenario.text("sentence"),
                    captures: try scenario.texts("captures"), failed: try scenario.integer("failed"),
                    runs: try scenario.integer("runs")))
        }
        guard fields["law"] != nil else { return Exploration(counts: nil, written: written) }
        let law = try fields.text("law")
        guard let law = Exploration.Law(rawValue: law) else {
            throw ResultsProblem("`law` must be stream or faults, not `\(Escaped.text(String(law.prefix(40))))`")
        }
        let counts = Exploration.Counts(
            law: law, tried: try fields.integer("tried"), left: try fields.integer("left"),
            inconclusive: try fields.integer("inconclusive"), isExhausted: try fields.flag("exhausted"),
            seed: try fields.integer("seed", Int.min...Int.max))
        return Exploration(counts: counts, written: written)
    }
}
