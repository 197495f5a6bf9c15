import ProbeBase
import ProbeEvents
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
    /// The variables that each round sets, in the order of the script.
    let names: [String]
    /// The number of the present round, from 1.
    var round = 0
    var values: [String: Value] = [:]

    init(outer: LoopScope?, names: [String] = []) {
        self.outer = outer
        self.names = names
    }

    /// The present rounds of this loop and of those around it, the outermost first.
    var rounds: [LoopRound] {
        let texts = names.compactMap { name in values[name].flatMap { NamedText(name, $0) } }
        return (outer?.rounds ?? []) + [LoopRound(number: round, values: texts)]
    }

    /// The innermost scope that has such a variable.
    func owner(of name: String) -> LoopScope? { values[name] == nil ? outer?.owner(of: name) : self }

    /// A copy of the variables as they are now: later rounds do not change it.
    func snapshot() -> LoopScope {
        let copy = LoopScope(outer: outer?.snapshot(), names: names)
        (copy.round, copy.values) = (round, values)
        return copy
    }

    /// The innermost variable of that name.
    func value(of name: String) -> Value? { values[name] ?? outer?.value(of: name) }
}

/// One attempt of a `retry`: what it opened is reset, and crowds that it started are ended, before the next.
///
/// Confined to the case's reactor.
final class RetryAttempt: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value has to be Sendable, and all tasks of a case run on one thread.
    let outer: RetryAttempt?
    /// No step inside waits beyond this moment.
    let deadline: MonotonicTime
    private(set) var opened: [Connection] = []
    /// Crowds that it started, each once, with the finding that the crowd had of earlier starts.
    private(set) var crowds: [(crowd: CrowdActor, unjudged: Finding?)] = []

    init(outer: RetryAttempt?, deadline: MonotonicTime) {
        self.outer = outer
        self.deadline = min(deadline, outer?.deadline ?? .distantFuture)
    }

    /// Whether it is an attempt or lies within it.
    func isPart(of attempt: RetryAttempt) -> Bool { self === attempt || outer?.isPart(of: attempt) ?? false }

    func add(_ connection: Connection) {
        opened.append(connection)
        outer?.add(connection)
    }

    func add(_ crowd: CrowdActor) {
        if !crowds.contains(where: { $0.crowd === crowd }) { crowds.append((crowd, crowd.unjudged)) }
        outer?.add(crowd)
    }
}
