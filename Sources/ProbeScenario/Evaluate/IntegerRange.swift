/// The values that a place of a script allows, and what they are.
///
/// The check notes it for each integer that it can't compute, and the run applies it once the integer has a value: so a value from a
/// variable has the bounds of a literal.
package struct IntegerRange: Sendable, Equatable {
    /// `the size`
    package var what: String
    package var values: ClosedRange<Int>
}
