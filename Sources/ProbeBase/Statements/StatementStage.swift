/// How far a statement has come from the text to the run: what stands in it where the script has a value.
///
/// The parser makes a statement of expressions, and the engine computes them when the step is due. Both are the same type with another
/// stage, so that its cases are listed once, and the rooms that carry a statement out need not know of expressions.
package protocol StatementStage {
    associatedtype Number: Sendable
    associatedtype Bytes: Sendable
    /// The seed of a random choice.
    associatedtype Seed: Sendable
    /// Which packets are meant, by their numbers.
    associatedtype Ordinals: Sendable
}

/// The stage of statements whose values are computed.
package enum Resolved: StatementStage {
    package typealias Number = Int
    package typealias Bytes = [UInt8]
    package typealias Seed = UInt64
    /// Of first transmissions; nil: every packet, and each of its copies.
    package typealias Ordinals = ClosedRange<Int>?
}
