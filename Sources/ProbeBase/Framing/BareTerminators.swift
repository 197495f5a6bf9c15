/// Halves of a CRLF that stand alone: data where CRLF is the terminator, and the nearest miss that there is.
package struct BareTerminators: Sendable, Equatable {
    /// How often something was seen, and where first. It never grows beyond `offsetLimit` offsets.
    package struct Occurrences: Sendable, Equatable {
        package static let offsetLimit = 16

        package private(set) var count = 0
        /// Of the first ones, in bytes from the start of the stream.
        package private(set) var offsets: [Int] = []

        package init() {}

        mutating func record(_ offset: Int) {
            count += 1
            if offsets.count < Self.offsetLimit { offsets.append(offset) }
        }
    }

    /// A CR with something other than LF behind it.
    package internal(set) var carriageReturns = Occurrences()
    /// A LF without CR before it.
    package internal(set) var lineFeeds = Occurrences()

    package init() {}

    package var isEmpty: Bool { carriageReturns.count == 0 && lineFeeds.count == 0 }
}
