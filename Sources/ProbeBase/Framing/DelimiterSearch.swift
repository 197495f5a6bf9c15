/// Finds a delimiter of any bytes in a stream that comes in pieces. It reads each byte once, also where the delimiter repeats its own
/// beginning (Knuth, Morris, Pratt).
package struct DelimiterSearch: Sendable {
    private let delimiter: [UInt8]
    /// By a number of matched bytes: how many of them are matched if the next byte is another one.
    private let fallbacks: [Int]
    /// How many bytes at the end of what was read begin a delimiter.
    package private(set) var matched = 0

    /// - Parameter delimiter: at least one byte.
    package init(_ delimiter: [UInt8]) {
        self.delimiter = delimiter
        var fallbacks = [0, 0]
        var length = 0
        for index in delimiter.indices.dropFirst() {
            while length > 0, delimiter[index] != delimiter[length] { length = fallbacks[length] }
            if delimiter[index] == delimiter[length] { length += 1 }
            fallbacks.append(length)
        }
        self.fallbacks = fallbacks
    }

    /// Reads a byte. Returns whether a delimiter ends with it; the search then begins anew.
    package mutating func read(_ byte: UInt8) -> Bool {
        while matched > 0, delimiter[matched] != byte { matched = fallbacks[matched] }
        if delimiter[matched] == byte { matched += 1 }
        guard matched == delimiter.count else { return false }
        matched = 0
        return true
    }

    package mutating func reset() { matched = 0 }
}
