/// Text that is created from an interpolated string, for code that creates thousands of texts. All parts are appended
/// to one buffer, so no intermediate strings are created.
///
/// For example: `TextBytes("\(name) sent \(count) bytes").string`
package struct TextBytes: ExpressibleByStringInterpolation, Sendable {
    package private(set) var utf8: [UInt8]

    package init(stringLiteral text: StaticString) {
        utf8 = text.withUTF8Buffer { Array($0) }
    }

    package init(stringInterpolation: StringInterpolation) {
        utf8 = stringInterpolation.utf8
    }

    package var string: String { String(decoding: utf8, as: UTF8.self) }

    package struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var utf8: [UInt8] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            // Most interpolated values have fewer than 32 bytes, so the buffer is rarely reallocated.
            utf8.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ text: StaticString) {
            text.withUTF8Buffer { utf8 += $0 }
        }

        package mutating func appendInterpolation(_ text: StaticString) { appendLiteral(text) }
        package mutating func appendInterpolation(_ text: String) { utf8.append(text: text) }
        package mutating func appendInterpolation(_ number: Int) { utf8.append(decimal: number) }
        /// Appends the same text as `Escaped.excerpt`.
        package mutating func appendInterpolation(quoted bytes: some Collection<UInt8>, limit: Int = 64) {
            Escaped.appendExcerpt(of: bytes, limit: limit, to: &utf8)
        }
    }
}

/// Numbers with their nouns, for use in a sentence.
package enum ByteText {
    /// Returns a number with its noun, such as `1 byte` or `2 bytes`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")"
    }
}
