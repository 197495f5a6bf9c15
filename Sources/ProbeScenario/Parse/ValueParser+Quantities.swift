import ProbeBase

/// What stands beside expressions: quantities, comparisons, and words of closed lists.
extension ValueParser {
    // MARK: Quantities

    private func number() -> NumberLiteral {
        NumberLiteral(Array(cursor.bytes[Int(cursor.token.start)..<Int(cursor.token.end)]))
    }

    /// `20ms`; never zero unless that is allowed.
    func parseDuration(_ example: String, allowsZero: Bool = false) throws(Abandoned) -> Duration {
        guard cursor.kind == .number else { throw cursor.expected("a duration", example) }
        switch number() {
        case .duration(let duration):
            if duration == .zero, !allowsZero {
                throw cursor.fail(
                    .badNumber, "a duration of zero makes no sense here", hint: "for example 20ms", at: cursor.place)
            }
            cursor.advance()
            return duration
        case .integer: throw cursor.fail(.missingUnit(cursor.word, .duration), at: cursor.place)
        case let other: throw badNumber(other, wanted: .duration)
        }
    }

    /// `10B/s`, in bytes a second.
    func parseRate() throws(Abandoned) -> Int {
        guard cursor.kind == .number else { throw cursor.expected("a rate", "10B/s") }
        switch number() {
        case .rate(let rate):
            if rate == 0 {
                throw cursor.fail(
                    .badNumber, "at a rate of zero nothing is ever sent", hint: "for example 10B/s", at: cursor.place)
            }
            cursor.advance()
            return rate
        case .integer, .size, .frequency: throw cursor.fail(.missingUnit(cursor.word, .rate), at: cursor.place)
        case let other: throw badNumber(other, wanted: .rate)
        }
    }

    /// An integer or a size, as an integer.
    func parseNumber() throws(Abandoned) -> Int {
        guard cursor.kind == .number else { throw cursor.expected("a number") }
        switch number() {
        case .integer(let value), .size(let value):
            cursor.advance()
            return value
        case let other: throw badNumber(other, wanted: .integer)
        }
    }

    /// As ``parseNumber()``, up to 2^64 - 1.
    func parseLiteral() throws(Abandoned) -> Expression.Kind {
        guard case .unsigned(let value) = number() else { return .integer(try parseNumber()) }
        cursor.advance()
        return .unsigned(value)
    }

    private func badNumber(_ number: NumberLiteral, wanted: NumberQuantity) -> Abandoned {
        let text = cursor.word
        let place = cursor.place
        switch number {
        case .unknownUnit(let digits, let unit):
            return cursor.fail(.unknownUnit(digits: digits, unit: unit, wanted), at: place)
        case .tooLarge, .unsigned:
            return cursor.fail(
                .badNumber, "\(text) is too large", hint: "numbers go up to 9223372036854775807", at: place)
        case .malformed:
            return cursor.fail(
                .badNumber, "\(Escaped.quoted(text)) is no number",
                hint: "numbers are 12, 1_000, 0x1f, sizes 4KiB, durations 1.5s", at: place)
        case .duration: return cursor.fail(.wrongQuantity(text, is: .duration, wanted: wanted), at: place)
        case .rate, .frequency: return cursor.fail(.wrongQuantity(text, is: .rate, wanted: wanted), at: place)
        case .size, .integer: return cursor.fail(.wrongQuantity(text, is: .size, wanted: wanted), at: place)
        }
    }

    // MARK: Comparisons

    func takeComparison() -> Comparison? {
        let comparison: Comparison
        switch cursor.kind {
        case .equal: comparison = .equal
        case .notEqual: comparison = .notEqual
        case .less: comparison = .less
        case .lessOrEqual: comparison = .lessOrEqual
        case .greater: comparison = .greater
        case .greaterOrEqual: comparison = .greaterOrEqual
        default: return nil
        }
        cursor.advance()
        return comparison
    }

    /// `<= 100`; a number alone is to be equal.
    func parseComparison(_ example: String) throws(Abandoned) -> (Comparison, Expression) {
        guard let comparison = takeComparison() else {
            return (.equal, try parseExpression("a number", example))
        }
        return (comparison, try parseExpression("a number", example))
    }

    /// `<= 100ms`
    ///
    /// - Parameter usual: the comparison that a message names.
    func parseTimeComparison(
        _ example: String, usual: Comparison, allowsZero: Bool = false
    ) throws(Abandoned) -> (Comparison, Duration) {
        guard let comparison = takeComparison() else {
            throw cursor.expected("`\(usual.rawValue)` or another comparison", example)
        }
        return (comparison, try parseDuration(example, allowsZero: allowsZero))
    }

    // MARK: Words

    func parseFraming() throws(Abandoned) -> Framing {
        let place = cursor.place
        if cursor.kind == .string || cursor.kind == .rawString {
            let bytes = try LiteralParser(cursor: cursor).parsePlainBytes("a delimiter", "framing \"END\"")
            guard let framing = Framing(delimiter: bytes.value) else {
                throw cursor.fail(
                    .expected, "a delimiter has at least one byte", hint: "write framing \"END\", or framing none",
                    at: place)
            }
            return framing
        }
        return try cursor.parseChoice("a framing", Framing.allCases)
    }

    func parseSignal() throws(Abandoned) -> ProcessSignal {
        guard cursor.kind == .word else { throw cursor.expected("a signal", "signal TERM") }
        var name = cursor.word
        if name.utf8.starts(with: "SIG".utf8) { name = String(name.dropFirst(3)) }
        guard let signal = ProcessSignal.all.first(where: { $0.name == name }) else {
            throw cursor.fail(
                .unknownWord(cursor.word, what: "a signal", choices: ProcessSignal.all.map(\.name)),
                at: cursor.place)
        }
        cursor.advance()
        return signal
    }
}

extension ProcessSignal {
    /// The signals that a script can name, with their numbers on Linux.
    static let all: [ProcessSignal] = [
        ProcessSignal(name: "HUP", number: 1), ProcessSignal(name: "INT", number: 2),
        ProcessSignal(name: "QUIT", number: 3),
        ProcessSignal(name: "ILL", number: 4), ProcessSignal(name: "TRAP", number: 5),
        ProcessSignal(name: "ABRT", number: 6),
        ProcessSignal(name: "BUS", number: 7), ProcessSignal(name: "FPE", number: 8),
        ProcessSignal(name: "KILL", number: 9),
        ProcessSignal(name: "USR1", number: 10), ProcessSignal(name: "SEGV", number: 11),
        ProcessSignal(name: "USR2", number: 12), ProcessSignal(name: "PIPE", number: 13),
        ProcessSignal(name: "ALRM", number: 14), ProcessSignal(name: "TERM", number: 15),
        ProcessSignal(name: "CHLD", number: 17), ProcessSignal(name: "CONT", number: 18),
        ProcessSignal(name: "STOP", number: 19), ProcessSignal(name: "TSTP", number: 20),
        ProcessSignal(name: "WINCH", number: 28), ProcessSignal(name: "SYS", number: 31),
    ]
}

/// What a number says.
enum NumberQuantity: String, Sendable {
    case duration, rate, size, integer

    var article: String {
        switch self {
        case .duration: "a duration"
        case .rate: "a rate"
        case .size: "a size"
        case .integer: "a number"
        }
    }

    func units(for number: String) -> String {
        switch self {
        case .duration: "say in what: \(number)ms, or us, s, min"
        case .rate: "say in what: \(number)B/s, or KiB/s, MiB/s, kB/s, MB/s"
        case .size: "sizes are 512B, 4KiB, 10MiB, 1kB, 1MB"
        case .integer: "numbers are 12, 1_000, 0x1f, and sizes 512B, 4KiB, 10MiB, 1kB, 1MB"
        }
    }
}

extension Diagnostic.Message {
    static func missingUnit(_ number: String, _ quantity: NumberQuantity) -> Self {
        Self(
            .missingUnit, "\(number) has no unit, and \(quantity.article) is meant",
            hint: quantity.units(for: number.allSatisfy(\.isNumber) ? number : "10"))
    }

    static func unknownUnit(digits: String, unit: String, _ quantity: NumberQuantity) -> Self {
        Self(.unknownUnit, "\(Escaped.quoted(unit)) is no unit", hint: unitHint(digits, unit, quantity))
    }

    private static func unitHint(_ digits: String, _ unit: String, _ quantity: NumberQuantity) -> String {
        let units = NumberLiteral.durationUnits.map(\.name) + NumberLiteral.sizeUnits.map(\.name)
        if let near = units.first(where: { $0.lowercased() == unit.lowercased() }) {
            return "did you mean \(digits)\(near)?"
        }
        if unit == "m" { return "did you mean \(digits)ms or \(digits)min?" }
        if unit == "K" || unit == "k" { return "did you mean \(digits)KiB or \(digits)kB?" }
        if unit == "sec" { return "did you mean \(digits)s?" }
        return quantity.units(for: digits)
    }

    static func wrongQuantity(_ text: String, is actual: NumberQuantity, wanted: NumberQuantity) -> Self {
        Self(
            .wrongQuantity, "\(text) is \(actual.article), and \(wanted.article) is meant",
            hint: wanted.units(for: "10"))
    }
}
