import ProbeScenario

/// The running steps of a case, which determine the case's position in the script. This type has no side effects.
struct StepProgress {
    /// The numbers of the running steps (outside definitions).
    private var running: Set<Int> = []
    /// The highest number of a step that has ended.
    private var lastEnded = -1

    mutating func enter(_ step: Int) { running.insert(step) }

    mutating func leave(_ step: Int) {
        running.remove(step)
        lastEnded = max(lastEnded, step)
    }

    /// Replaces a block with its steps in the set of running steps, so that each of these steps counts as past as soon
    /// as it ends.
    mutating func descend(from block: Int, to steps: some Sequence<Step>) {
        for step in steps { running.insert(step.id) }
        running.remove(block)
    }

    /// The position in the script: the lowest number of a running step. All steps with a lower number are past. Between
    /// two steps, such as when the lines of a `together` have ended and the case has not continued yet, the position is
    /// the number of the next step.
    var position: Int { running.min() ?? lastEnded + 1 }
}
