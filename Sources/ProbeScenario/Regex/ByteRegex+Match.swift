extension ByteRegex {
    /// Where a pattern matched.
    package struct Match: Sendable, Equatable {
        package struct Group: Sendable, Equatable {
            package let name: String
            /// nil when the match did not pass through the group.
            package let range: Range<Int>?
        }

        /// Of the input's indices.
        package let range: Range<Int>
        /// The named groups, in order of appearance.
        package let groups: [Group]

        /// Where the group of this name matched; nil when it did not, or when there is no such group.
        package subscript(name: String) -> Range<Int>? {
            groups.first { $0.name == name }?.range
        }

        func shifted(by distance: Int) -> Match {
            func shift(_ range: Range<Int>) -> Range<Int> {
                (range.lowerBound + distance)..<(range.upperBound + distance)
            }
            return Match(
                range: shift(range), groups: groups.map { Group(name: $0.name, range: $0.range.map(shift)) }
            )
        }
    }
}
