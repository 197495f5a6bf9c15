import ProbeBase
package import ProbeScenario

/// Writes the values that were given on the command line (`--set`) into a script, so that the script is self-contained.
package struct AssignedValues {
    private let plan: Plan

    /// Creates a writer for the values of a plan.
    ///
    /// - Parameter plan: the plan that was made from the script and the given values; the script must be a single file.
    package init(_ plan: Plan) { self.plan = plan }

    /// Returns the text of the script with the script's own values replaced by the given values.
    ///
    /// - Parameter names: the names of the `let`s in the header whose values were given.
    package func written(_ names: Set<String>) -> [UInt8] {
        var edits = TextEdits()
        for (name, value) in plan.scenario.constants where names.contains(name.value) {
            switch value.kind {
            case .unsigned(let number): edits.replace(value.span.start..<value.span.end, with: "\(number)")
            case .integer(let number): edits.replace(value.span.start..<value.span.end, with: "\(number)")
            case .string(let pieces):
                guard pieces.count <= 1 else { continue }
                var bytes: [UInt8] = []
                if case .text(let text)? = pieces.first { bytes = text }
                edits.replace(value.span.start..<value.span.end, with: "\"\(StreamStatements.escaped(bytes))\"")
            default: continue
            }
        }
        return edits.applied(to: plan.sources.files[0].bytes)
    }
}
