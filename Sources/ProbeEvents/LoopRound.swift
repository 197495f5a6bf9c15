/// A name in the script and the text of its value. Numbers are shown unchanged, bytes in quotes.
package struct NamedText: Sendable, Equatable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

extension [NamedText] {
    /// The names and values as text, such as `i = 301, name = "anna"`.
    package var sentence: String { map { "\($0.name) = \($0.text)" }.joined(separator: ", ") }
}

/// A round of a `for` loop, as the location of an event.
package struct LoopRound: Sendable, Equatable {
    /// The number of the round, counted from 1.
    package var number: Int
    /// The loop's variables, in the order of the script.
    package var values: [NamedText]

    package init(number: Int, values: [NamedText]) {
        self.number = number
        self.values = values
    }

    /// The round as text, such as ``in round 301 of `for i`: i = 301``.
    package var sentence: String {
        "in round \(number) of `for \(values.map(\.name).joined(separator: ", "))`: \(values.sentence)"
    }
}
