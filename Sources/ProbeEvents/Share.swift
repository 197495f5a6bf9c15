/// One of the equal parts into which a run or a crowd is divided: `3/8` is the third of eight parts.
package struct Share: Sendable, Hashable, CustomStringConvertible {
    /// The highest accepted number of shares. A higher number is considered a mistake.
    package static let highestTotal = 1_000_000

    /// The share's index, from 1 to ``total``.
    package let index: Int
    /// The total number of shares, at least 1.
    package let total: Int

    /// The reason why the text or the numbers of a share are invalid, as a clause.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    /// Creates a share.
    ///
    /// - Parameter index: the share's index, counted from 1.
    package init(index: Int, total: Int) throws(Problem) {
        guard (1...Share.highestTotal).contains(total) else {
            throw Problem(description: "the total \(total) must be 1 to \(Share.highestTotal)")
        }
        guard (1...total).contains(index) else {
            throw Problem(description: "the index \(index) must be 1 to \(total)")
        }
        (self.index, self.total) = (index, total)
    }

    private init() { (index, total) = (1, 1) }

    /// The share `1/1`, which contains everything.
    package static let whole = Share()

    /// Parses text such as `3/8`, which consists of the index, counted from 1, and the total.
    package init(_ text: String) throws(Problem) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Share.number(parts[0]), let total = Share.number(parts[1]) else {
            throw Problem(
                description: "expected two numbers such as 3/8: the share, counted from 1, and the number of shares")
        }
        try self.init(index: index, total: total)
    }

    /// Parses a decimal number without a sign. Returns `nil` if the text is not such a number. Leading zeros are
    /// accepted.
    package static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Whether there is only one share, which contains everything.
    package var isWhole: Bool { total == 1 }

    /// The share as text, such as `3/8`.
    package var description: String { "\(index)/\(total)" }
}
