public import ArgumentParser
public import ProbeBase

extension Framing: ExpressibleByArgument {
    /// The framings that the help lists for an option.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) + ["'\"DELIMITER\"'"] }

    /// Creates a framing from its name; `nil` if the name is unknown.
    public init?(argument: String) { self.init(rawValue: argument) }
}

extension Framing {
    /// Checks that a word names a framing that recordings and sessions can use, which is any framing except
    /// `websocket`.
    static func validate(option word: String) throws(ValidationError) {
        if let framing = Framing(rawValue: word), framing != .websocket { return }
        let words = allCases.filter { $0 != .websocket }.map(\.rawValue) + ["or a delimiter in quotes"]
        throw ValidationError("--framing \(word): expected \(words.joined(separator: ", "))")
    }
}
