import ProbeEvents
import ProbeScenario

/// The variables of a case. What they hold together is bounded. Pure.
struct VariableStore {
    private(set) var values: [String: Value]
    /// Bytes that they hold.
    private(set) var size: Int
    private let limit: Int

    init(_ values: [String: Value] = [:], limit: Int = Evaluator.largestCase) {
        self.values = values
        self.limit = limit
        size = values.values.reduce(0) { $0 + $1.size }
    }

    /// The innermost variable of that name: a loop's before the case's.
    func value(of name: String, in loop: LoopScope?) -> Value? { loop?.value(of: name) ?? values[name] }

    /// Sets a variable of the case.
    ///
    /// - Returns: what is wrong when the variables hold too much.
    mutating func set(_ name: String, _ value: Value) -> Finding? {
        size += value.size
        if let old = values.updateValue(value, forKey: name) { size -= old.size }
        guard size > limit else { return nil }
        return Finding(
            .error, "the variables of the case hold more than \(limit >> 20) MiB together, with `\(name)`",
            hints: ["a value that is written where it is sent is in memory only then"])
    }

    /// Binds a variable: the loop's of that name, if the step is in such a loop.
    mutating func bind(_ name: String, _ value: Value, in loop: LoopScope?) -> Finding? {
        loop?.owner(of: name)?.values[name] = value
        return set(name, value)
    }
}
