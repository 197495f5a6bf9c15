extension Parser {
    private func number() -> NumberLiteral {
        NumberLiteral(Array(bytes[Int(token.start)..<Int(token.end)]))
    }

    /// `20ms`; never zero unless that is allowed.
    mutating func parseDuration(_ example: String, allowsZero: Bool = false) throws(Abandoned) -> Duration {
        guard kind == .number else { throw expected("a duration", example) }
        switch number() {
        case .duration(let duration):
            if duration == .zero, !allowsZero { throw fail(.zeroDuration, at: span(token)) }
            advance()
            return duration
        case .integer: throw fail(.missingUnit(text(token), .duration), at: span(token))
        case let other: throw badNumber(other, wanted: .duration)
        }
    }

    /// `10B/s`, in bytes a second.
    mutating func parseRate() throws(Abandoned) -> Int {
        guard kind == .number else { throw expected("a rate", "10B/s") }
        switch number() {
        case .rate(let rate):
            if rate == 0 { throw fail(.zeroRate, at: span(token)) }
            advance()
            return rate
        case .integer, .size, .frequency: throw fail(.missingUnit(text(token), .rate), at: span(token))
        case let other: throw badNumber(other, wanted: .rate)
        }
    }

    /// An integer or a size, as an integer.
    mutating func parseNumber() throws(Abandoned) -> Int {
        guard kind == .number else { throw expected("a number") }
        switch number() {
        case .integer(let value), .size(let value):
            advance()
            return value
        case let other: throw badNumber(other, wanted: .integer)
        }
    }

    func badNumber(_ number: NumberLiteral, wanted: SyntaxDiagnosticKind.Quantity) -> Abandoned {
        let text = text(token)
        let place = span(token)
        switch number {
        case .unknownUnit(let digits, let unit):
            return fail(.unknownUnit(digits: digits, unit: unit, wanted), at: place)
        case .tooLarge: return fail(.numberTooLarge(text), at: place)
        case .malformed: return fail(.malformedNumber(text), at: place)
        case .duration: return fail(.wrongQuantity(text, is: .duration, wanted: wanted), at: place)
        case .rate, .frequency: return fail(.wrongQuantity(text, is: .rate, wanted: wanted), at: place)
        case .size, .integer: return fail(.wrongQuantity(text, is: .size, wanted: wanted), at: place)
        }
    }
}
