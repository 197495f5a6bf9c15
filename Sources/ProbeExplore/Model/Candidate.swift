/// A scenario to be run: the one that is explored, with parts left out, and a variation of what is left.
package struct Candidate: Hashable, Sendable {
    package var variation: Variation
    /// Steps that are left out, by number; with a block its contents.
    package var removedSteps: Set<Int> = []
    /// Expectations whose place `ignore rest` takes: what they would have consumed may still arrive.
    package var ignoredRests: Set<Int> = []
    /// Actors that are left out.
    package var removedActors: Set<String> = []
    /// What is sent instead of the script's value, by the number of the send.
    package var payloads: [Int: [UInt8]] = [:]

    package init(_ variation: Variation = Variation()) {
        self.variation = variation
    }

    /// The same scenario, sent as the script says.
    package var plain: Candidate {
        var result = self
        result.variation = Variation()
        return result
    }

    /// The same scenario with other changes.
    package func varied(_ variation: Variation) -> Candidate {
        var result = self
        result.variation = variation
        return result
    }
}
