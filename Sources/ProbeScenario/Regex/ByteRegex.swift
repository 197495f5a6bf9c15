/// A regular expression over bytes, matched in time linear in the input: no backreferences, no lookaround.
package struct ByteRegex: Sendable {
    /// The pattern as written.
    package let source: String
}
