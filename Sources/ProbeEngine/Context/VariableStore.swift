import ProbeEvents
import ProbeScenario

/// The variables of a case. Their total size is limited. This type has no side effects.
struct VariableStore {
    private(set) var values: [String: Value]
    /// The total size of the values in bytes.
    private(set) var size: Int
    private let limit: Int

    init(_ values: [String: Value] = [:], limit: Int = Evaluator.largestCase) {
        self.values = values
        self.limit = limit
        size = values.values.reduce(0) { $0 + $1.size }
    }

    /// Returns the value of the innermost variable with the given name: a loop's variable takes precedence over the
    /// case's variable.
    func value(of name: String, in loop: LoopScope?) -> Value? { loop?.value(of: name) ?? values[name] }

    /// Sets a variable of the case.
    ///
    /// - Returns: a finding if the variables exceed their total size limit.
    mutating func set(_ name: String, _ value: Value) -> Finding? {
        size += value.size
        if let old = values.updateValue(value, forKey: name) { size -= old.size }
        guard size > limit else { return nil }
        return Finding(
            .error, "`\(name)` brings the total size of the case's variables to more than \(limit >> 20) MiB",
            hints: ["write a large value in the step that sends it, so that it is in memory only during that step"])
    }

    /// Binds a variable of the case and, if a surrounding loop has a variable with the same name, the loop's variable,
    /// too.
    mutating func bind(_ name: String, _ value: Value, in loop: LoopScope?) -> Finding? {
        loop?.owner(of: name)?.values[name] = value
        return set(name, value)
    }
}
