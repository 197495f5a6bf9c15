/// CRs and LFs without the other half of a CRLF: they are data if the terminator is CRLF, and the most likely mistake.
package struct BareTerminators: Sendable, Equatable {
    /// The number of occurrences, and the offsets of the first ones. Keeps at most `offsetLimit` offsets.
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

    /// CRs that are not followed by an LF.
    package internal(set) var carriageReturns = Occurrences()
    /// LFs that are not preceded by a CR.
    package internal(set) var lineFeeds = Occurrences()

    package init() {}

    package var isEmpty: Bool { carriageReturns.count == 0 && lineFeeds.count == 0 }
}
