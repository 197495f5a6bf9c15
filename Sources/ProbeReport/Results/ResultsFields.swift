import ProbeBase

/// The members of a JSON object, read one by one. What is missing or of another kind is a problem that names the member.
struct ResultsFields {
    private let members: [JSONValue.Member]

    init(_ value: JSONValue) throws(ResultsProblem) {
        guard case .object(let members) = value else {
            throw ResultsProblem("\(value.kind) stands where an object has to be")
        }
        self.members = members
    }

    /// Nil for a member that is missing or null.
    subscript(_ name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.key == name })?.value, !value.isNull else { return nil }
        return value
    }

    private func wrong(_ name: String, _ wanted: String) -> ResultsProblem {
        ResultsProblem(
            self[name].map { "`\(name)` must be \(wanted), not \($0.kind)" }
                ?? "`\(name)` is missing; it must be \(wanted)")
    }

    func text(_ name: String) throws(ResultsProblem) -> String {
        guard let text = self[name]?.text else { throw wrong(name, "a string") }
        return text
    }

    func textIfAny(_ name: String) throws(ResultsProblem) -> String? {
        self[name] == nil ? nil : try text(name)
    }

    /// - Parameter range: the numbers that are accepted.
    func integer(
        _ name: String, _ range: ClosedRange<Int> = 0...ResultsFields.largest
    ) throws(ResultsProblem) -> Int {
        guard let number = self[name]?.integer else { throw wrong(name, "a whole number") }
        guard range.contains(number) else {
            throw ResultsProblem("`\(name)` must be \(range.lowerBound) to \(range.upperBound), not \(number)")
        }
        return number
    }

    func integerIfAny(
        _ name: String, _ range: ClosedRange<Int> = 0...ResultsFields.largest
    ) throws(ResultsProblem) -> Int? {
        self[name] == nil ? nil : try integer(name, range)
    }

    func flag(_ name: String) throws(ResultsProblem) -> Bool {
        guard let value = self[name] else { return false }
        guard case .boolean(let flag) = value else { throw wrong(name, "true or false") }
        return flag
    }

    func requiredFlag(_ name: String) throws(ResultsProblem) -> Bool {
        if self[name] == nil { throw wrong(name, "true or false") }
        return try flag(name)
    }

    /// Empty for a list that is missing.
    func list(_ name: String) throws(ResultsProblem) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard case .array(let values) = value else { throw wrong(name, "an array") }
        return values
    }

    func texts(_ name: String) throws(ResultsProblem) -> [String] {
        var texts: [String] = []
        for value in try list(name) {
            guard let text = value.text else { throw ResultsProblem("`\(name)` must have strings, not \(value.kind)") }
            texts.append(text)
        }
        return texts
    }

    /// The bytes of a string in which each character is one of U+0000 to U+00FF.
    func bytesIfAny(_ name: String) throws(ResultsProblem) -> [UInt8]? {
        guard let value = self[name] else { return nil }
        guard let bytes = value.latin1 else { throw wrong(name, "a string of characters up to U+00FF, a byte each") }
        return bytes
    }

    func object(_ name: String) throws(ResultsProblem) -> ResultsFields {
        guard let value = self[name] else { throw wrong(name, "an object") }
        do throws(ResultsProblem) { return try ResultsFields(value) } catch { throw wrong(name, "an object") }
    }

    /// One of the words of a type.
    func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Word.Type = Word.self
    ) throws(ResultsProblem) -> Word where Word.RawValue == String {
        let text = try text(name)
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ResultsProblem("`\(name)` must be one of \(known), not `\(Escaped.text(String(text.prefix(40))))`")
        }
        return word
    }

    /// Every member, in order, with a whole number or null.
    func numbers() throws(ResultsProblem) -> [(name: String, number: Int?)] {
        var numbers: [(name: String, number: Int?)] = []
        for (name, value) in members {
            guard value.isNull || value.integer != nil else {
                throw wrong(Escaped.text(name), "a whole number or null")
            }
            numbers.append((name, value.integer))
        }
        return numbers
    }

    /// Nobody measures more than this: sums of some hundred of them do not overflow.
    static let largest = 1 << 54

    /// - Returns: the sum, or ``largest`` where it would be more: what is written can be read again.
    static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? largest : min(sum, largest)
    }
}
