import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The context of a step, in task-local values that the tasks started by a `together` inherit.
enum StepContext {
    /// Whether the step belongs to a definition. Steps in a definition have no position in the script; the `do` that
    /// runs the definition represents them.
    @TaskLocal static var isInDefinition = false
    /// The innermost `retry` around the step.
    @TaskLocal static var attempt: RetryAttempt?
    /// The innermost `for` around the step.
    @TaskLocal static var loop: LoopScope?
}

/// The variables of a `for`. They are separate from the case's variables, so that loops with the same variable in two
/// lines of a `together` don't interfere with each other.
///
/// Confined to the case's reactor.
final class LoopScope: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value must be Sendable, and all tasks of a case run on one thread.
    let outer: LoopScope?
    /// The names of the variables that each round sets, in the order of the script.
    let names: [String]
    /// The number of the current round, starting at 1.
    var round = 0
    var values: [String: Value] = [:]

    init(outer: LoopScope?, names: [String] = []) {
        self.outer = outer
        self.names = names
    }

    /// The current rounds of this loop and of the surrounding loops, outermost first.
    var rounds: [LoopRound] {
        let texts = names.compactMap { name in values[name].flatMap { NamedText(name, $0) } }
        return (outer?.rounds ?? []) + [LoopRound(number: round, values: texts)]
    }

    /// Returns the innermost scope that contains the variable.
    func owner(of name: String) -> LoopScope? { values[name] == nil ? outer?.owner(of: name) : self }

    /// Returns a copy of the variables with their current values. Later rounds of the loop don't change the copy.
    func snapshot() -> LoopScope {
        let copy = LoopScope(outer: outer?.snapshot(), names: names)
        (copy.round, copy.values) = (round, values)
        return copy
    }

    /// Returns the value of the innermost variable with the given name.
    func value(of name: String) -> Value? { values[name] ?? outer?.value(of: name) }
}

/// One attempt of a `retry`. Before the next attempt, the connections that this attempt opened are reset, and the
/// crowds that it started are ended.
///
/// Confined to the case's reactor.
final class RetryAttempt: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value must be Sendable, and all tasks of a case run on one thread.
    let outer: RetryAttempt?
    /// The time after which no step in the attempt waits.
    let deadline: MonotonicTime
    private(set) var opened: [Connection] = []
    /// The crowds that the attempt started, without duplicates. Each crowd has a finding if a problem in its earlier
    /// starts had not been judged by any step before the attempt.
    private(set) var crowds: [(crowd: CrowdActor, unhandledFinding: Finding?)] = []

    init(outer: RetryAttempt?, deadline: MonotonicTime) {
        self.outer = outer
        self.deadline = min(deadline, outer?.deadline ?? .distantFuture)
    }

    /// Returns whether this attempt is `attempt` or is nested in it.
    func isPart(of attempt: RetryAttempt) -> Bool { self === attempt || outer?.isPart(of: attempt) ?? false }

    func add(_ connection: Connection) {
        opened.append(connection)
        outer?.add(connection)
    }

    func add(_ crowd: CrowdActor) {
        if !crowds.contains(where: { $0.crowd === crowd }) { crowds.append((crowd, crowd.unhandledFinding)) }
        outer?.add(crowd)
    }
}
