/// One unit of a framing, with its place in the stream. Offsets count bytes from the start of the stream.
package struct Frame: Sendable, Equatable {
    /// Without prefix or terminator.
    package var payload: [UInt8]
    /// All of it, prefix and terminator included.
    package var range: Range<Int>
    /// Empty, and at the end, where the framing has none.
    package var terminator: Range<Int>
    /// What in the payload looks like half a terminator; of `crlf` only.
    package var bareTerminators: BareTerminators

    package init(
        payload: [UInt8], range: Range<Int>, terminator: Range<Int>, bareTerminators: BareTerminators = .init()
    ) {
        self.payload = payload
        self.range = range
        self.terminator = terminator
        self.bareTerminators = bareTerminators
    }
}
