/// A name in the script and the text of its value: a number unchanged, bytes in quotes.
package struct NamedText: Sendable, Equatable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}

extension [NamedText] {
    /// The values as a text, such as `i = 301, name = "anna"`.
    package var sentence: String { map { "\($0.name) = \($0.text)" }.joined(separator: ", ") }
}

/// The round of a `for` in which something happened.
package struct LoopRound: Sendable, Equatable {
    /// The number of the round, from 1.
    package var number: Int
    /// The loop's variables, in the order of the script.
    package var values: [NamedText]

    package init(number: Int, values: [NamedText]) {
        self.number = number
        self.values = values
    }

    /// The round as a text, such as `in round 301 of for i: i = 301`.
    package var sentence: String {
        "in round \(number) of for \(values.map(\.name).joined(separator: ", ")): \(values.sentence)"
    }
}
