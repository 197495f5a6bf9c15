import ProbeScenario

/// The steps of a case that are running. Earlier steps of the script are past. Pure.
struct StepProgress {
    /// The numbers of the running steps (outside of definitions).
    private var running: Set<Int> = []
    /// The highest number of a step that has ended.
    private var lastEnded = -1

    mutating func enter(_ step: Int) { running.insert(step) }

    mutating func leave(_ step: Int) {
        running.remove(step)
        lastEnded = max(lastEnded, step)
    }

    /// Replaces a block with its steps among the running steps, so that each of them is past as soon as it ends.
    mutating func descend(from block: Int, to steps: some Sequence<Step>) {
        for step in steps { running.insert(step.id) }
        running.remove(block)
    }

    /// The position in the script: all running steps have this number or a higher one, and steps from it on are not
    /// past. Between two steps, such as when the lines of a `together` have ended and the case has not continued yet,
    /// it is the number of the next step.
    var position: Int { running.min() ?? lastEnded + 1 }
}
