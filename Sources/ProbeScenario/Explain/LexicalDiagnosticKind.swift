import ProbeBase

/// What can be wrong with the characters of a script.
package enum LexicalDiagnosticKind: Sendable {
    case notUTF8(offset: Int)
    case nulByte(offset: Int)
    case tooLarge(limit: Int)
    case unexpectedCharacter(String)
    case typographicCharacter(TypographicCharacter)
    case bareCarriageReturn
    case hiddenCharacter(UInt8)
    case tooMany(Int)
    case commentNeedsSpace
    case unterminatedString(quote: String)
    case unterminatedRegex
    case unterminatedHex
    case unterminatedHost
    case unterminatedShellQuote(quote: String)
    case unknownEscape(String)
    case badHexEscape
    case badUnicodeEscape
    case badInterpolation(String)
    case badHexDigit(String)
    case oddHexDigits
    case unknownRegexFlag(String)
    case regexSyntax(String)
    case shellOperator(String)

    var message: Diagnostic.Message {
        switch self {
        case .notUTF8(let offset):
            .init(
                .notUTF8, "the script is not UTF-8 text: the byte at offset \(offset) fits nowhere",
                hint: "save the file as UTF-8; bytes for the wire are written \"\\xHH\" or hex(…)")
        case .nulByte(let offset):
            .init(
                .nulByte, "the script holds a NUL byte, at offset \(offset)",
                hint: "a script is text; a NUL for the wire is written \"\\0\"")
        case .tooLarge(let limit):
            .init(
                .tooLarge, "the script is larger than \(limit / 1_048_576) MiB",
                hint: "split it, or move its data to files: file(\"payload.bin\")")
        case .unexpectedCharacter(let character):
            .init(.unexpectedCharacter, "\(character) has no meaning here", hint: "text for the wire stands in quotes")
        case .typographicCharacter(let character): character.message
        case .bareCarriageReturn:
            .init(
                .unexpectedCharacter, "a carriage return stands here without a line feed",
                hint: "end the lines of the script with LF or CRLF; a CR for the wire is written \"\\r\"")
        case .hiddenCharacter(let byte):
            .init(
                .unexpectedCharacter, "a control character stands in this string, where nobody sees it",
                hint: "write it as an escape: \(Escaped.text([byte]))")
        case .tooMany(let limit):
            .init(
                .tooManyErrors, "there are more than \(limit) errors; the rest is not told",
                hint: "mend the first ones first")
        case .commentNeedsSpace:
            .init(
                .commentNeedsSpace, "a # in the middle of a word starts no comment", hint: "put a space before the #")
        case .unterminatedString(let quote):
            .init(
                .unterminatedString, "this string has no closing \(quote) on its line",
                hint: "close it with \(quote); a line end for the wire is written \\n, and strings are joined with +")
        case .unterminatedRegex:
            .init(
                .unterminatedRegex, "this regex has no closing / on its line",
                hint: "close it with /; a / inside is written \\/; division works only inside parentheses")
        case .unterminatedHex:
            .init(.unterminatedHex, "this hex( has no closing ) on its line", hint: "write hex(de ad be ef)")
        case .unterminatedHost:
            .init(.badAddress, "this [ has no closing ]", hint: "an IPv6 address is written [::1]:8080")
        case .unterminatedShellQuote(let quote):
            .init(
                .unterminatedString, "this \(quote) of the command is not closed on its line",
                hint: "close the quote; a process line never goes on in the next line")
        case .unknownEscape(let escape):
            .init(
                .unknownEscape, "\(escape) is no escape",
                hint:
                    "the escapes are \\r \\n \\t \\0 \\\\ \\\" \\$ \\xHH \\u{H…}; in 'single quotes' nothing is escaped"
            )
        case .badHexEscape:
            .init(.unknownEscape, "\\x takes exactly two hexadecimal digits", hint: "for example \\x0d")
        case .badUnicodeEscape:
            .init(
                .unknownEscape, "\\u takes one to six hexadecimal digits of a character in braces",
                hint: "for example \\u{e9}; a byte is written \\xHH")
        case .badInterpolation(let text):
            .init(
                .badInterpolation, "\(text) names nothing",
                hint: "write ${name}, ${S.port} or ${S.address}; a ${ for the wire is written \\${")
        case .badHexDigit(let character):
            .init(.badHex, "\(character) is no hexadecimal digit", hint: "for example hex(de ad be ef)")
        case .oddHexDigits:
            .init(
                .badHex, "a byte takes two hexadecimal digits, and one is left over",
                hint: "write a zero before it: hex(0d 0a)")
        case .unknownRegexFlag(let flag):
            .init(
                .regexSyntax, "\(flag) is no flag of a regex",
                hint: "the one flag is i: upper and lower case are the same")
        case .regexSyntax(let message):
            .init(
                .regexSyntax, "the regex is wrong here: \(message)")
        case .shellOperator(let text):
            .init(
                .shellOperator, "no shell runs: \(text) is handed to the program as an argument",
                hint: "quote it if that is meant; for a shell write sh -c '…'")
        }
    }
}
