import ProbeBase
import ProbeScenario
import ProbeSystem

/// Where a step runs: what its task, and those that a `together` starts from it, inherit.
enum StepContext {
    /// Steps of a definition have no place of their own in the script: the `do` that led there stands for them.
    @TaskLocal static var isInDefinition = false
    /// The innermost `retry` around the step.
    @TaskLocal static var attempt: RetryAttempt?
    /// The innermost `for` around the step.
    @TaskLocal static var loop: LoopScope?
}

/// The variables of a `for`: its own, so that loops of one name in two lines of a `together` do not disturb each other.
///
/// Confined to the case's reactor.
final class LoopScope: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value has to be Sendable, and all tasks of a case run on one thread.
    let outer: LoopScope?
    var values: [String: Value] = [:]

    init(outer: LoopScope?) { self.outer = outer }

    /// The innermost scope that has such a variable.
    func owner(of name: String) -> LoopScope? { values[name] == nil ? outer?.owner(of: name) : self }

    /// A copy of the variables as they are now: later rounds do not change it.
    func snapshot() -> LoopScope {
        let copy = LoopScope(outer: outer?.snapshot())
        copy.values = values
        return copy
    }

    /// The innermost variable of that name.
    func value(of name: String) -> Value? { values[name] ?? outer?.value(of: name) }
}

/// One attempt of a `retry`: what it opened is reset before the next.
///
/// Confined to the case's reactor.
final class RetryAttempt: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value has to be Sendable, and all tasks of a case run on one thread.
    let outer: RetryAttempt?
    /// No step inside waits beyond this moment.
    let deadline: MonotonicTime
    private(set) var opened: [Connection] = []

    init(outer: RetryAttempt?, deadline: MonotonicTime) {
        self.outer = outer
        self.deadline = min(deadline, outer?.deadline ?? .distantFuture)
    }

    func add(_ connection: Connection) {
        opened.append(connection)
        outer?.add(connection)
    }
}
