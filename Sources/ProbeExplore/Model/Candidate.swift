/// A scenario to run: the explored scenario with some parts removed and others varied.
package struct Candidate: Hashable, Sendable {
    package var variation: Variation
    /// The numbers of the removed steps. If a block is removed, its contents are also removed.
    package var removedSteps: Set<Int> = []
    /// The numbers of the expectations that are replaced with `ignore rest`, because the bytes that they would consume
    /// may still arrive.
    package var ignoredRests: Set<Int> = []
    /// The names of the removed actors.
    package var removedActors: Set<String> = []
    /// The bytes that a send sends instead of the script's value, keyed by the number of the send.
    package var payloads: [Int: [UInt8]] = [:]

    package init(_ variation: Variation = Variation()) {
        self.variation = variation
    }

    /// The candidate without its variation.
    package var plain: Candidate {
        var result = self
        result.variation = Variation()
        return result
    }

    /// Returns the candidate with another variation.
    package func varied(_ variation: Variation) -> Candidate {
        var result = self
        result.variation = variation
        return result
    }
}
