/// CRs and LFs without the other half of a CRLF: data if the terminator is CRLF, and the most likely mistake.
package struct BareTerminators: Sendable, Equatable {
    /// How often something was seen, and where the first ones were. Keeps at most `offsetLimit` offsets.
    package struct Occurrences: Sendable, Equatable {
        package static let offsetLimit = 16

        package private(set) var count = 0
        /// The offsets of the first ones, in bytes from the start of the stream.
        package private(set) var offsets: [Int] = []

        package init() {}

        mutating func record(_ offset: Int) {
            count += 1
            if offsets.count < Self.offsetLimit { offsets.append(offset) }
        }
    }

    /// CRs that no LF follows.
    package internal(set) var carriageReturns = Occurrences()
    /// LFs that no CR precedes.
    package internal(set) var lineFeeds = Occurrences()

    package init() {}

    package var isEmpty: Bool { carriageReturns.count == 0 && lineFeeds.count == 0 }
}
