/// A range of bytes in one source file of a scenario: half-open, `start ..< end`, zero-based.
package struct SourceSpan: Hashable, Sendable {
    // The offsets are stored in 32 bits to save memory, because every value in a script has a span. No script is larger
    // than ``Lexer/largestScript``.
    private var storedFile: Int32
    private var storedStart: Int32
    private var storedEnd: Int32

    /// The index of the file in its ``SourceMap``: 0 for the scenario, and higher numbers for its includes.
    package var file: Int { Int(storedFile) }
    package var start: Int { Int(storedStart) }
    package var end: Int {
        get { Int(storedEnd) }
        set { storedEnd = Int32(truncatingIfNeeded: newValue) }
    }

    package init(file: Int = 0, start: Int, end: Int) {
        storedFile = Int32(truncatingIfNeeded: file)
        storedStart = Int32(truncatingIfNeeded: start)
        storedEnd = Int32(truncatingIfNeeded: end)
    }

    /// Returns the smallest span that contains both spans. The two spans must be in the same file.
    package func joined(with other: SourceSpan) -> SourceSpan {
        SourceSpan(file: file, start: min(start, other.start), end: max(end, other.end))
    }
}

/// A value with its place in the script.
package struct Spanned<Value> {
    package var value: Value
    package var span: SourceSpan

    package init(_ value: Value, _ span: SourceSpan) {
        self.value = value
        self.span = span
    }
}

extension Spanned: Sendable where Value: Sendable {}
extension Spanned: Equatable where Value: Equatable {}
extension Spanned: Hashable where Value: Hashable {}

/// An identifier as written.
package typealias Name = Spanned<String>
