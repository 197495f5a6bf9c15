/// Formats a script in the standard layout: four spaces per block, one space between words, actors' names aligned in
/// one column, comments on neighboring lines aligned, and no more than one blank line in a row. Comments, blank lines
/// between groups, and the line breaks of long statements are kept; strings, regexes and commands are not changed.
///
/// Formatting is idempotent and does not change the words of the script. The formatter verifies that the words are
/// unchanged before it returns the text.
package enum ScenarioFormatter {
    package enum Outcome: Sendable {
        case formatted([UInt8])
        /// The script can't be parsed, and the formatter does not guess what was intended. The spans of the diagnostics
        /// refer to the source map.
        case unreadable([Diagnostic], SourceMap)
    }

    package static func format(path: String, bytes: [UInt8]) -> Outcome {
        // Included files are not needed for formatting.
        let context = ParseContext(path: path, bytes: bytes) { (_) throws(LoadError) in throw .notFound }
        FileParser.parse(file: 0, bytes: bytes, into: context, isInclude: false)
        let errors = context.diagnostics.sorted.filter(\.keepsFromFormatting)
        guard errors.isEmpty else { return .unreadable(errors, context.sources) }
        let list = Lexer.tokens(file: 0, bytes: bytes)
        var layout = Layout(bytes: bytes, list: list)
        let text = Array(layout.run().utf8)
        let again = Lexer.tokens(file: 0, bytes: text)
        guard words(of: list, in: bytes) == words(of: again, in: text) else { return .formatted(bytes) }
        return .formatted(text)
    }

    /// Returns the words of a script, with one separator for each run of line ends and semicolons.
    private static func words(of list: TokenList, in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var words: [ArraySlice<UInt8>] = []
        let separator = ArraySlice([UInt8(ascii: "\n")])
        for (index, token) in list.tokens.enumerated() {
            switch token.kind {
            case .newline, .semicolon, .end:
                let isInnermost = index > 0 && list.tokens[index - 1].kind == .leftBrace
                if let last = words.last, last != separator, !isInnermost { words.append(separator) }
            case .rightBrace:
                if words.last == separator { words.removeLast() }
                words.append([UInt8(ascii: "}")])
            case .hexDigits:
                words.append(ArraySlice(bytes[Int(token.start)..<Int(token.end)].filter { $0 != 0x20 && $0 != 0x09 }))
            default: words.append(bytes[Int(token.start)..<Int(token.end)])
            }
        }
        for comment in list.comments { words.append(bytes[comment].trimmingTrailingSpace) }
        return words
    }
}

extension Diagnostic {
    fileprivate var keepsFromFormatting: Bool {
        switch id {
        case .argumentCount, .asNotHere, .badAddress, .badHex, .badInterpolation, .badNumber, .clauseTwice,
            .commentNeedsSpace, .cutsMisplaced, .eachNeedsTable, .emptyRange, .expected, .ifNeededNotHere, .missingUnit,
            .notUTF8, .nulByte, .outOfRange, .pipeAndCut, .propertyOutsideString, .regexMisplaced, .regexSyntax,
            .timingNeverHolds, .tooDeep, .tooLarge, .tooManyErrors, .unexpectedCharacter, .unexpectedSlash,
            .unknownEscape, .unknownExpectation, .unknownFunction, .unknownStatement, .unknownUnit, .unknownVerb,
            .unknownWire, .unknownWord, .unmatchedBrace, .unterminatedHex, .unterminatedRegex, .unterminatedString,
            .wrongQuantity:
            true
        default: false
        }
    }
}

extension ArraySlice<UInt8> {
    var trimmingTrailingSpace: ArraySlice<UInt8> {
        var result = self
        while let last = result.last, last == 0x20 || last == 0x09 || last == 0x0D { result = result.dropLast() }
        return result
    }
}
