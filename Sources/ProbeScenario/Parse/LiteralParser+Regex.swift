import ProbeBase

extension LiteralParser {
    func parseRegex(_ what: String = "a regex", _ example: String = "/^220 /") throws(Abandoned)
        -> RegexLiteral
    {
        guard kind == .regex else { throw cursor.expected(what, example) }
        let literal = regexLiteral(token)
        cursor.advance()
        return literal
    }

    private func regexLiteral(_ token: Token) -> RegexLiteral {
        let start = Int(token.start) + 1
        var close = Int(token.end) - 1
        while close > start, bytes[close] != UInt8(ascii: "/") { close -= 1 }
        var ignoresCase = false
        for offset in (close + 1)..<max(close + 1, Int(token.end)) {
            if bytes[offset] == UInt8(ascii: "i"), !ignoresCase {
                ignoresCase = true
            } else {
                report(
                    .regexSyntax, "\(Escaped.quoted(bytes.scalar(at: offset))) is no flag of a regex",
                    hint: "the one flag is i: upper and lower case are the same", offset, offset + 1)
                break
            }
        }
        var builder = PieceBuilder(length: Int(token.end - token.start))
        // The pattern with a letter in place of each variable, and the place of each of its bytes in the script.
        var sample: [UInt8] = []
        var origins: [Int] = []
        var isInterpolated = false
        var index = start
        while index < close {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < close {
                builder.append(contentsOf: bytes[index...index + 1])
                sample += bytes[index...index + 1]
                origins += [index, index + 1]
                index += 2
            } else if bytes[index] == UInt8(ascii: "$"), index + 1 < close, bytes[index + 1] == UInt8(ascii: "{") {
                let (piece, next) = interpolation(at: index, end: close)
                builder.append(piece ?? .text([0x3F]))
                isInterpolated = true
                sample.append(UInt8(ascii: "x"))
                origins.append(index)
                index = next
            } else {
                builder.append(bytes[index])
                sample.append(bytes[index])
                origins.append(index)
                index += 1
            }
        }
        let place = cursor.span(token)
        do throws(RegexSyntaxError) {
            let regex = try ByteRegex(bytes: sample, ignoresCase: ignoresCase)
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: regex.groupNames,
                compiled: isInterpolated ? nil : regex, span: place)
        } catch {
            let offset = origins.indices.contains(error.offset) ? origins[error.offset] : close
            report(.regexSyntax, "the regex is wrong here: \(error.message)", offset, min(offset + 1, Int(token.end)))
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: [], compiled: nil, span: place)
        }
    }
}
