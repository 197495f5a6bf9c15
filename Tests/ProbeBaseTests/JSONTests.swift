package import ProbeBase
import Testing

/// Two values are equal if their JSON texts are equal. The operator `==` is defined only in the tests, because no other
/// code compares JSON values.
extension JSONValue: Equatable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool { left.encoded(.ascii) == right.encoded(.ascii) }
}

struct JSONTests {
    private func parse(_ bytes: [UInt8]) -> Result<JSONValue, JSONError> {
        do throws(JSONError) {
            return .success(try JSONParser.parse(bytes.span))
        } catch {
            return .failure(error)
        }
    }

    private func parse(_ text: String) -> Result<JSONValue, JSONError> { parse(Array(text.utf8)) }

    private static let texts: [(String, JSONValue)] = [
        ("null", .null),
        (" true\r\n", .boolean(true)), ("false", .boolean(false)), ("0", .integer(0)), ("-0", .integer(0)),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.5e+2", .number(150)), ("1E-1", .number(0.1)),
        ("[]", .array([])), ("[ 1 , \"\" ]", .array([.integer(1), .string("")])), ("{}", .object([])),
        ("{\"a\":{\"b\":[{}]}}", .object([("a", .object([("b", .array([.object([])]))]))])),
        (#""\"\\\/\b\f\n\r\t\u0041\u00fF""#, .string("\"\\/\u{8}\u{c}\n\r\tAÿ")),
        (#""\ud83d\ude00 \u20ac €😀""#, .string("😀 € €😀")), ("\"\u{7f}\"", .string("\u{7f}")),
    ]

    @Test(arguments: texts)
    func validTextIsParsed(text: String, value: JSONValue) {
        #expect(parse(text) == .success(value))
    }

    private static let wrong: [(String, JSONError.Reason, Int)] = [
        ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("tru", .unexpectedEnd, 3), ("trUe", .unexpected(85), 2),
        ("[1,]", .unexpected(93), 3), ("[1 2]", .unexpected(50), 3), ("{\"a\"}", .unexpected(125), 4),
        ("{a:1}", .unexpected(97), 1), ("{\"a\":1,}", .unexpected(125), 7), ("1 2", .trailing, 2),
        ("{}x", .trailing, 2),
        ("01", .invalidNumber, 0), ("-", .invalidNumber, 0), ("1.", .invalidNumber, 0), ("1e", .invalidNumber, 0),
        ("+1", .unexpected(43), 0), (".5", .unexpected(46), 0), ("NaN", .unexpected(78), 0), ("\"a", .unexpectedEnd, 2),
        ("\"a\tb\"", .controlInString, 2), (#""\x41""#, .invalidEscape, 1), (#""\u12""#, .invalidEscape, 5),
        (#""\ud800""#, .loneSurrogate, 1), (#""\udc00""#, .loneSurrogate, 1), (#""\ud800\u0041""#, .loneSurrogate, 1),
        ("\"\\", .unexpectedEnd, 2), ("{\"a\":1,\"a\":2}", .duplicateName, 7), ("\u{feff}1", .unexpected(0xef), 0),
        ("{\"a\":", .unexpectedEnd, 5), ("[", .unexpectedEnd, 1), ("/*c*/1", .unexpected(47), 0),
    ]

    @Test(arguments: wrong)
    func invalidTextIsRefused(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(parse(text) == .failure(JSONError(reason: reason, offset: offset)))
    }

    @Test func byteOrderMarkIsNamedInTheError() {
        guard case .failure(let error) = parse("\u{feff}{}") else {
            Issue.record("the byte order mark was accepted")
            return
        }
        #expect(error.text.contains("byte order mark"))
    }

    private static let notUTF8: [[UInt8]] = [
        [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc2], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
        [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0xe2, 0x82], [0xe2, 0x82, 0x22],
    ]

    @Test(arguments: notUTF8)
    func invalidUTF8IsRefused(bytes: [UInt8]) {
        #expect(parse([34] + bytes + [34]) == .failure(JSONError(reason: .invalidUTF8, offset: 1)))
    }

    private static let replaced: [([UInt8], String)] = [
        (Array(#"a\ud83db"#.utf8), "a\u{fffd}b"), (Array(#"\ude00"#.utf8), "\u{fffd}"),
        (Array(#"\ud83d\ud83d\ude00"#.utf8), "\u{fffd}😀"), (Array(#"\ud83d\n\ud83dA"#.utf8), "\u{fffd}\n\u{fffd}A"),
        (Array(#"\ude00\ud83d"#.utf8), "\u{fffd}\u{fffd}"), (Array(#"\ud83d\u0041"#.utf8), "\u{fffd}A"),
        ([0x61, 0xff, 0x62], "a\u{fffd}b"), ([0xed, 0xa0, 0xbd, 0x62], "\u{fffd}b"),
        ([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], "\u{fffd}\u{fffd}"), ([0xe2, 0x82], "\u{fffd}"),
        ([0xf0, 0x9f, 0x98, 0x41], "\u{fffd}A"), ([0xed, 0xa0], "\u{fffd}\u{fffd}"), (Array("😀é".utf8), "😀é"),
    ]

    @Test(arguments: replaced)
    func invalidCharactersAreReplacedOnRequest(bytes: [UInt8], text: String) throws {
        let json = [34] + bytes + [34]
        #expect(try JSONParser.parse(json.span, replacesInvalid: true) == .string(text))
        if text.contains("\u{fffd}") { #expect(throws: JSONError.self) { try parse(json).get() } }
    }

    /// The option `replacesInvalid` affects only invalid characters; all other errors are reported.
    @Test func onlyInvalidCharactersAreReplaced() {
        for text in [#""\ud83d\u12""#, #""\ud83d"#, #""\x""#, "\"a\tb\"", #"["\ud83d",]"#] {
            #expect(throws: JSONError.self) { try JSONParser.parse(Array(text.utf8).span, replacesInvalid: true) }
        }
        #expect(throws: JSONError.self) { try JSONParser.parse([0xff].span, replacesInvalid: true) }
    }

    @Test func nestingIsBounded() {
        let deepest = JSONParser.depthLimit
        #expect(throws: Never.self) {
            try parse(String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)).get()
        }
        for opening in ["[", "{\"a\":"] {
            guard case .failure(let error) = parse(String(repeating: opening, count: 1_000_000)) else {
                Issue.record("a million levels were accepted")
                continue
            }
            #expect(error.reason == .tooDeep)
        }
    }

    /// The names of an object with few members are compared one by one; in a larger object, they are looked up in a
    /// set.
    @Test(arguments: [2, 15, 16, 17, 100])
    func duplicateNamesAreRefused(count: Int) throws {
        let names = (0..<count).map { "\"\($0)\":0" }
        #expect(throws: Never.self) { try parse("{\(names.joined(separator: ","))}").get() }
        for index in [0, count - 1] {
            let text = "{\(names.joined(separator: ",")),\(names[index])}"
            guard case .failure(let error) = parse(text) else {
                Issue.record("a duplicate name was accepted")
                continue
            }
            #expect(error.reason == .duplicateName && error.offset == text.utf8.count - names[index].utf8.count - 1)
        }
        // Names that look the same but consist of different bytes are different names.
        #expect(throws: Never.self) { try parse("{\"\u{e9}\":1,\"e\u{301}\":1}").get() }
    }

    /// A mutated text is either parsed or rejected, and never causes a trap.
    @Test func mutationsNeverTrap() {
        let text = Array(#"{"ev":"line","conn":-12,"data":"a\u00ff\ud83d\ude00é","x":[1.5e-3,true,null,{}]}"#.utf8)
        var random = SystemRandomNumberGenerator()
        var taken = 0
        for end in 0...text.count {
            if case .success = parse(Array(text[..<end])) { taken += 1 }
        }
        #expect(taken == 1, "only the complete text is valid")
        for _ in 0..<20_000 {
            var mutant = text
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                mutant[Int.random(in: 0..<mutant.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = parse(mutant)
        }
    }

    @Test func everyByteRoundTrips() throws {
        let bytes = (0...255).map { UInt8($0) }
        let text = JSONValue.object([("data", .latin1(bytes))]).encoded(.ascii)
        #expect(text.allSatisfy { (32..<127).contains($0) }, "the text is printable ASCII")
        #expect(try parse(text).get()["data"]?.latin1 == bytes)
        // Most JSON encoders write characters above U+009F as UTF-8, without escapes.
        let plain = String(String.UnicodeScalarView(bytes.dropFirst(160).map { UnicodeScalar($0) }))
        #expect(try parse("\"\(plain)\"").get().latin1 == Array(bytes.dropFirst(160)))
        #expect(try parse("\"\u{100}\"").get().latin1 == nil)
        #expect(try parse(#""\u20ac""#).get().latin1 == nil)
        #expect(try parse("12").get().latin1 == nil)
    }

    @Test func everyKindOfValueRoundTrips() throws {
        let value = JSONValue.object([
            ("name", .string("é😀\u{0}\"\\\t\u{2028}")), ("number", .integer(.min)), ("flag", .boolean(true)),
            ("list", .array([.string("a"), .string(""), .null, .number(1.5)])), ("empty", .object([])),
        ])
        #expect(
            String(decoding: value.encoded(.ascii), as: UTF8.self)
                == #"{"name":"\u00e9\ud83d\ude00\u0000\"\\\t\u2028","number":-9223372036854775808,"flag":true,"#
                + #""list":["a","",null,1.5],"empty":{}}"#)
        #expect(
            String(decoding: value.encoded(), as: UTF8.self).hasPrefix(#"{"name":"é😀\u0000\"\\\t\u2028","number""#))
        for characters in [JSONValue.Characters.ascii, .visible] {
            #expect(try parse(value.encoded(characters)).get() == value)
        }
    }
}
