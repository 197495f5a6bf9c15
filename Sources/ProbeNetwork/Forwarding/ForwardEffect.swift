import ProbeBase

/// What a step has done to one direction of a proxied connection so far. Pure.
package struct ForwardEffect: Sendable, Equatable {
    /// Bytes that went on under it.
    package var passed = 0
    /// An end went on under it, or by it.
    package var hasEnded = false
    /// It kept bytes or an end back.
    package var hasKept = false
    /// Bytes that it dropped.
    package var dropped = 0
    /// What it replaced, in occurrences.
    package var replaced = 0
    /// Cuts with bytes on both sides.
    package var cuts = 0
    /// Bytes waited because of its pace.
    package var hasPaced = false
    /// What was kept back went on, bytes that nobody sent were inserted, or the connection was ended: it did what it says at once.
    package var hasActed = false

    package init() {}

    /// The effects of one step on two directions.
    package func joined(with other: ForwardEffect) -> ForwardEffect {
        var sum = self
        sum.passed += other.passed
        sum.dropped += other.dropped
        sum.replaced += other.replaced
        sum.cuts += other.cuts
        sum.hasEnded = hasEnded || other.hasEnded
        sum.hasKept = hasKept || other.hasKept
        sum.hasPaced = hasPaced || other.hasPaced
        sum.hasActed = hasActed || other.hasActed
        return sum
    }

    /// A wait for the pace that is shorter is one of the machine.
    static let shortestWait = Duration.microseconds(100)
}

extension ForwardStyle<Resolved> {
    /// What happened instead of each part of a style that had no effect.
    ///
    /// - Parameter destination: `to its client`.
    package func shortfalls(_ effect: ForwardEffect, _ destination: String) -> [String] {
        var missing: [String] = []
        let hasPassed = effect.passed > 0 || effect.hasEnded
        let count = effect.passed == 1 ? "1 byte" : "\(effect.passed == 0 ? "no" : "\(effect.passed)") bytes"
        let passed = "\(count) went on \(destination)"
        switch cut {
        case .at(let offsets)? where effect.cuts < offsets.count:
            missing.append("\(passed), and none after offset \(offsets[effect.cuts])")
        case .inPieces(let size)? where effect.cuts == 0:
            missing.append("\(passed), never more than \(size == 1 ? "1 byte" : "\(size) bytes") at a time")
        case .random? where effect.cuts == 0: missing.append("\(passed), and none after the first cut")
        case .at?, .inPieces?, .random?, nil: break
        }
        switch pace {
        case .every? where !effect.hasPaced: missing.append("\(passed) in one piece: no piece waited for another")
        case .rate? where !effect.hasPaced: missing.append("\(passed), and none had to wait")
        case .every?, .rate?, nil: break
        }
        // What is late or joined waits before it goes on: that is an effect too.
        if !hasPassed, !effect.hasKept { missing.append("no byte and no end was to go on \(destination)") }
        return missing
    }
}
