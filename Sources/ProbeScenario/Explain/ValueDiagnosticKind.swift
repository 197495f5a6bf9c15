package import ProbeBase

/// What can be wrong with a value.
package enum ValueDiagnosticKind: Sendable {
    case integerAsBytes(String)
    case bytesAsInteger(String)
    case countAsBytes(String)
    case regexAsBytes(String)
    case regexAsInteger(String)
    case notARegex(String)
    case mixedSum
    case mixedCheck
    case arithmeticOnBytes(String)
    case orderOfBytes
    case argumentCount(String, takes: String, example: String)
    case randomNeedsSeed
    case unknownLabel(String, function: String)
    case sizedFormat(String)
    case cutsOutsideEach
    /// `$i` in a string, where `i` has a value.
    case missingBraces(String)
    /// `${S.port}` in single quotes on a `process` line.
    case inSingleQuotes(String)
    /// A word of a `process` line is a file beside the script, and the program can't run without it.
    case fileBeside(String)
    /// As `fileBeside`, of a word that may mean something else.
    case fileMayBeBeside(String)
    case pathNotText
    case outsideFolder(String)
    case emptyExpected
    /// What it is the name of, how long it is, and may be.
    case nameLength(String, Int, ClosedRange<Int>)
    case emptySend
    case emptyDelimiter
    case emptyRange(Int, Int)
    case nothingToCut(length: Int, times: Int)
    case cutPastEnd(offset: Int, length: Int?)
    case cutsOutOfOrder(Int, after: Int)
    case outOfRange(String, Int, Int, Int)
    case tooManyCases(Int)
    /// Bytes of the value, and of all its cuts together.
    case cutsTooLarge(length: Int, limit: Int)
    case tooManyParameters(Int)
    /// What the values of `each` hold in all cases together, in MiB.
    case casesTooLarge(Int)
    /// What the values of one case hold together, in MiB.
    case caseTooLarge(Int)
    case targetNotAllowed(AllowedTargets.Refusal)
    case evaluation(EvaluationError.Reason)

    private static func bytesHint(_ text: String) -> String {
        if text.utf8.allSatisfy(\.isDigit) { return "write it as text, \"\(text)\", or as a byte, u8(\(text))" }
        if text.utf8.allSatisfy({ $0.isWordCharacter || $0 == UInt8(ascii: "-") }) {
            return "write \"${\(text)}\" for its decimal text, or u8(…), u16(…) for its bytes"
        }
        return "u8(…), u16(…) make bytes of it; for its decimal text write let n = \(text) and then \"${n}\""
    }

    var message: Diagnostic.Message {
        switch self {
        case .integerAsBytes(let text):
            .init(.wrongType, "\(text) is a number, and bytes are meant", hint: Self.bytesHint(text))
        case .countAsBytes(let text):
            .init(
                .wrongType, "\(text) is a number, and bytes are expected",
                hint: "write expect \(text) bytes for so many, or expect \"\(text)\" for the text")
        case .bytesAsInteger(let text):
            .init(
                .wrongType, "\(text) is bytes, and a number is meant",
                hint: "int(…) reads decimal text as a number, len(…) counts bytes")
        case .regexAsBytes(let text), .regexAsInteger(let text):
            .init(
                .wrongType, "\(text) may be a regex, and a value is meant",
                hint: "a regex of a table stands behind expect line, expect message and matches")
        case .notARegex(let text):
            .init(
                .wrongType, "\(text) is no regex",
                hint: "write check x matches /…/, or name a cell of a table that is a regex")
        case .mixedSum:
            .init(
                .mixedTypes, "a number and bytes are added here",
                hint: "write \"${n}\" for the decimal text of a number, int(…) for the number in a text")
        case .mixedCheck:
            .init(
                .mixedTypes, "a number is compared with bytes here: they are never equal",
                hint: "write \"${n}\" for the decimal text of a number, int(…) for the number in a text")
        case .arithmeticOnBytes(let sign):
            .init(
                .wrongType, "`\(sign)` is for numbers, and this is bytes", hint: "int(…) reads decimal text as a number"
            )
        case .orderOfBytes:
            .init(
                .wrongType, "bytes are compared with == and !=, contains and lacks",
                hint: "compare lengths with len(x) < 10, and decimal texts with int(x) < 10")
        case .argumentCount(let name, let takes, let example):
            .init(.argumentCount, "\(name)(…) takes \(takes)", hint: "for example \(example)")
        case .randomNeedsSeed:
            .init(
                .argumentCount, "random(…) takes a size and a seed, so that each run sends the same",
                hint: "for example random(64KiB, seed 7)")
        case .unknownLabel(let label, let function):
            .init(
                .argumentCount, "\(function)(…) has no argument `\(label)`",
                hint: "for example \(Function(rawValue: function)?.example ?? function)")
        case .sizedFormat(let text):
            .init(
                .argumentCount, "\(Escaped.quoted(text)) is no length prefix",
                hint: "sized takes u8, u16, u32, u64 or varint, and a value: sized(u16, \"text\")")
        case .cutsOutsideEach:
            .init(
                .cutsMisplaced, "cuts(…) is every way to cut a value: it stands in `each` alone",
                hint: "write each piece = cuts(V) in the header, and send piece here")
        case .missingBraces(let name):
            .init(
                .missingBraces, "`$\(name)` is sent as it stands: a value is put in by `${\(name)}`",
                hint: "write ${\(name)}; a $ that means itself is \\$")
        case .inSingleQuotes(let name):
            .init(
                .missingBraces,
                "`${\(name)}` in single quotes is passed to the program unchanged: nothing is put in there, and a shell doesn't know the name",
                hint: "end the quotes around it: '…'${\(name)}'…', or use double quotes: \"…${\(name)}…\"")
        case .fileBeside(let path):
            .init(
                .fileBesideScript, "programs run in a folder of their own: there is no \(Escaped.quoted(path)) in it",
                hint: "write ${dir}/\(path): ${dir} is the script's folder")
        case .fileMayBeBeside(let path):
            .init(
                .fileMayBeBesideScript,
                "programs run in a folder of their own, and \(Escaped.quoted(path)) is a file beside the script",
                hint: "write ${dir}/\(path) where that file is meant")
        case .pathNotText:
            .init(
                .wrongType, "the path of a file is text that is known before the run",
                hint: "for example file(\"payload.bin\")")
        case .outsideFolder(let path):
            .init(
                .outsideFolder, "\(Escaped.quoted(path)) is outside the script's folder",
                hint: "copy the file next to the script, or below it")
        case .emptyExpected:
            .init(
                .emptyValue, "nothing is expected here: it would pass by itself",
                hint: "for silence write expect nothing for 200ms; for an empty line expect line \"\"")
        case .nameLength(let what, let length, let range):
            .init(
                length == 0 ? .emptyValue : .outOfRange,
                "\(what) has \(range.lowerBound) to \(range.upperBound) bytes, not \(length)",
                hint: length == 0 ? "leave the option out where there is none" : nil)
        case .emptySend:
            .init(.emptyValue, "there is nothing to send", hint: "remove it; an empty line is send line \"\"")
        case .emptyDelimiter:
            .init(.emptyValue, "the delimiter is empty", hint: "for example expect until \"\\0\" as x")
        default: moreMessage
        }
    }

    private var moreMessage: Diagnostic.Message {
        switch self {
        case .emptyRange(let first, let last):
            .init(
                .emptyRange, "the range \(first)..\(last) is empty: nothing would run",
                hint: "a range goes upwards and holds both ends, such as 1..13")
        case .nothingToCut(let length, let times):
            .init(
                .emptyRange,
                "\(counted(length, "byte")) can't be cut \(times == 1 ? "once" : "\(times) times"): nothing would run",
                hint: "a value of n bytes has n - 1 places to cut it")
        case .cutPastEnd(let offset, nil):
            .init(.cutPastEnd, "offset \(offset) cuts nothing off", hint: "offsets begin at 1")
        case .cutPastEnd(let offset, let length?):
            .init(
                .cutPastEnd, "offset \(offset) cuts nothing off a value of \(counted(length, "byte"))",
                hint: length > 1 ? "offsets go from 1 to \(length - 1)" : "it is too short to be cut")
        case .cutsOutOfOrder(let offset, let earlier):
            .init(
                .cutPastEnd, "offset \(offset) is not behind the offset \(earlier) before it",
                hint: "write the offsets in rising order, each once")
        case .outOfRange(let what, let value, let low, let high):
            .init(
                .outOfRange,
                high == Int.max
                    ? "\(what) is \(value), and must be at least \(low)"
                    : "\(what) is \(value), and must be from \(low) to \(high)")
        case .tooManyParameters(let limit):
            .init(
                .tooManyCases, "more than \(limit) `each`",
                hint: "what has one value only is a let; a table has several columns for one each")
        case .casesTooLarge(let limit):
            .init(
                .cantCompute, "the values of each hold more than \(limit) MiB in all cases together",
                hint: "let each give the number or the seed, and compute the value in a let: let x = random(n, seed 1)")
        case .caseTooLarge(let limit):
            .init(
                .cantCompute, "the values of this header hold more than \(limit) MiB together in one case",
                hint: "compute a large value where it is sent: C send random(100MiB, seed 1)")
        case .tooManyCases(let limit):
            .init(
                .tooManyCases, "this makes more than \(limit) cases",
                hint: "several `each` multiply: make their lists shorter, or split the script")
        case .cutsTooLarge(let length, let limit):
            .init(
                .tooManyCases,
                "the cuts of this value of \(length) bytes come to more than \(limit >> 20) MiB, all cases together",
                hint: "cut a shorter value; bytes that need no cut can be sent by a step of their own")
        case .targetNotAllowed(let refusal): .init(.targetNotAllowed, refusal.text, hint: refusal.hint)
        case .evaluation(let reason): .init(reason.id, reason.text, hint: reason.hint)
        default: .init(.wrongType, "this value does not fit")
        }
    }
}
