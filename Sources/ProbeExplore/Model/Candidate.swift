/// A scenario to be run: the explored scenario with parts left out, and a variation of the remaining parts.
package struct Candidate: Hashable, Sendable {
    package var variation: Variation
    /// The numbers of the steps that are left out. A block includes its contents.
    package var removedSteps: Set<Int> = []
    /// Expectations replaced by `ignore rest`: the bytes that they would have consumed may still arrive.
    package var ignoredRests: Set<Int> = []
    /// The names of the actors that are left out.
    package var removedActors: Set<String> = []
    /// The bytes sent instead of the script's value, by the number of the send.
    package var payloads: [Int: [UInt8]] = [:]

    package init(_ variation: Variation = Variation()) {
        self.variation = variation
    }

    /// The same scenario without the variation.
    package var plain: Candidate {
        var result = self
        result.variation = Variation()
        return result
    }

    /// Returns the same scenario with another variation.
    package func varied(_ variation: Variation) -> Candidate {
        var result = self
        result.variation = variation
        return result
    }
}
