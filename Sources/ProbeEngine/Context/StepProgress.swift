import ProbeScenario

/// Which steps of a case are running: what the script says before them is past. Pure.
struct StepProgress {
    /// Steps that are running (outside definitions), by their number.
    private var running: Set<Int> = []
    /// The highest number of a step that has ended.
    private var lastEnded = -1

    mutating func enter(_ step: Int) { running.insert(step) }

    mutating func leave(_ step: Int) {
        running.remove(step)
        lastEnded = max(lastEnded, step)
    }

    /// Steps of a block run instead of the block: which of them have ended tells what is past.
    mutating func descend(from block: Int, to steps: some Sequence<Step>) {
        for step in steps { running.insert(step.id) }
        running.remove(block)
    }

    /// The number before which no running step stands: what the script says from there on is still to come. Between two steps, as when the
    /// lines of a `together` have ended and it has not gone on, it is the next one's.
    var position: Int { running.min() ?? lastEnded + 1 }
}
