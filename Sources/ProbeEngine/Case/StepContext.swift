import ProbeSockets

/// Where a step runs: what its task, and those that a `together` starts from it, inherit.
enum StepContext {
    /// Steps of a definition have no place of their own in the script: the `do` that led there stands for them.
    @TaskLocal static var isInDefinition = false
    /// The innermost `retry` around the step.
    @TaskLocal static var attempt: RetryAttempt?
}

/// One attempt of a `retry`: what it opened is reset before the next.
///
/// Confined to the case's reactor.
final class RetryAttempt: @unchecked Sendable {
    // `@unchecked Sendable`: a task-local value has to be Sendable, and all tasks of a case run on one thread.
    let outer: RetryAttempt?
    /// Steps inside wait no longer than until here.
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
