/// The stage of a statement between parsing and execution, which determines the types of the statement's values.
///
/// The parser produces statements that contain expressions, and the engine evaluates the expressions when the step is
/// due. One generic type represents both stages of a statement, so its cases are listed only once. The modules that
/// execute statements do not depend on expressions.
package protocol StatementStage {
    associatedtype Number: Sendable
    associatedtype Bytes: Sendable
    /// The seed of a random choice.
    associatedtype Seed: Sendable
    /// The selection of packets by their ordinal numbers.
    associatedtype Ordinals: Sendable
    /// The framing that the script's header sets, which is unknown until the header has been read completely.
    associatedtype HeaderFraming: Sendable
}

/// The stage of statements whose expressions have been evaluated.
package enum Resolved: StatementStage {
    package typealias Number = Int
    package typealias Bytes = [UInt8]
    package typealias Seed = UInt64
    /// The ordinal numbers of first transmissions; `nil` selects every packet, including retransmissions.
    package typealias Ordinals = ClosedRange<Int>?
    package typealias HeaderFraming = Framing
}
