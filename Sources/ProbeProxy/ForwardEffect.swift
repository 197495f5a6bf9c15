import ProbeBase

/// The effects of a step on one direction of a proxied connection so far.
package struct ForwardEffect: Sendable, Equatable {
    /// The number of bytes that were forwarded while the step was in effect.
    package var passed = 0
    /// Whether a FIN or an RST was forwarded while the step was in effect, or because of the step.
    package var hasEnded = false
    /// Whether the step held back bytes, a FIN or an RST.
    package var hasKept = false
    /// The number of bytes that the step dropped.
    package var dropped = 0
    /// The number of occurrences of the bytes that the step replaced.
    package var replaced = 0
    /// The number of cuts before and after which bytes were forwarded.
    package var cuts = 0
    /// Whether the step's pace delayed bytes.
    package var hasPaced = false
    /// Whether the step took effect immediately: it released what was held back, inserted bytes, or ended the
    /// connection.
    package var hasActed = false

    package init() {}

    /// Returns the combined effects of one step on both directions of a connection.
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

    /// The shortest delay that is attributed to a step's pace; shorter delays may be caused by the machine.
    static let shortestWait = Duration.microseconds(100)
}

extension ForwardStyle<Resolved> {
    /// Returns, for each part of a forwarding style that had no effect, a clause that explains why.
    ///
    /// - Parameter destination: the direction as text, such as `to its client`.
    package func shortfalls(_ effect: ForwardEffect, _ destination: String) -> [String] {
        var missing: [String] = []
        let hasPassed = effect.passed > 0 || effect.hasEnded
        let count = effect.passed == 1 ? "1 byte" : "\(effect.passed == 0 ? "no" : "\(effect.passed)") bytes"
        let passed = "\(count) \(effect.passed == 1 ? "was" : "were") forwarded \(destination)"
        switch cut {
        case .at(let offsets)? where effect.cuts < offsets.count:
            missing.append("\(passed), and none after offset \(offsets[effect.cuts])")
        case .inPieces(let size)? where effect.cuts == 0:
            missing.append("\(passed), never more than \(size == 1 ? "1 byte" : "\(size) bytes") at a time")
        case .random? where effect.cuts == 0: missing.append("\(passed), and none after the first cut")
        case .at?, .inPieces?, .random?, nil: break
        }
        switch pace {
        case .every? where !effect.hasPaced: missing.append("\(passed) in one piece, so that no piece had to wait")
        case .rate? where !effect.hasPaced: missing.append("\(passed), and none had to wait")
        case .every?, .rate?, nil: break
        }
        // Holding bytes back, to delay or join them, also counts as an effect, even before the bytes are forwarded.
        if !hasPassed, !effect.hasKept {
            missing.append("there was nothing to forward \(destination), neither data nor the end of the stream")
        }
        return missing
    }
}
