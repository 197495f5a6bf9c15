/// The stage of a statement between its text and its execution. It determines how the statement holds its values.
///
/// The parser produces statements that hold expressions, and the engine evaluates them when the step is due. Both are one type with
/// different stages: its cases are listed once, and modules that execute statements need not know about expressions.
package protocol StatementStage {
    associatedtype Number: Sendable
    associatedtype Bytes: Sendable
    /// The seed of a random choice.
    associatedtype Seed: Sendable
    /// The selection of packets by their numbers.
    associatedtype Ordinals: Sendable
    /// The framing that the header sets. It is not known until the whole header has been read.
    associatedtype HeaderFraming: Sendable
}

/// The stage of statements whose values are computed.
package enum Resolved: StatementStage {
    package typealias Number = Int
    package typealias Bytes = [UInt8]
    package typealias Seed = UInt64
    /// The numbers of first transmissions; `nil` for every packet, and each of its copies.
    package typealias Ordinals = ClosedRange<Int>?
    package typealias HeaderFraming = Framing
}
