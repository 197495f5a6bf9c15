/// Finds a delimiter in a stream that arrives in pieces. Even if the delimiter repeats its own beginning, each byte of
/// the stream is read only once (the algorithm of Knuth, Morris and Pratt).
package struct DelimiterSearch: Sendable {
    private let delimiter: [UInt8]
    /// For each number of matched bytes, the number of these bytes that still match if the next byte differs from the
    /// delimiter's next byte.
    private let fallbacks: [Int]
    /// The number of bytes at the end of the input that match the beginning of the delimiter.
    package private(set) var matched = 0

    /// Creates a search.
    ///
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

    /// Reads a byte and returns whether it completes a delimiter. After a complete delimiter, the search restarts.
    package mutating func read(_ byte: UInt8) -> Bool {
        while matched > 0, delimiter[matched] != byte { matched = fallbacks[matched] }
        if delimiter[matched] == byte { matched += 1 }
        guard matched == delimiter.count else { return false }
        matched = 0
        return true
    }

    /// Reads bytes up to the end of a delimiter. Bytes that can't begin a delimiter are skipped, eight at a time.
    ///
    /// - Returns: the index after the delimiter, at which the search restarts; `nil` if `bytes` contains no complete
    ///   delimiter.
    package mutating func end(in bytes: borrowing Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        while index < bytes.count {
            if matched == 0 {
                guard let first = bytes.firstIndex(of: delimiter[0], from: index) else { return nil }
                index = first
            }
            let isEnd = read(bytes[index])
            index += 1
            if isEnd { return index }
        }
        return nil
    }

    package mutating func reset() { matched = 0 }
}
