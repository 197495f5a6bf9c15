import ProbeBase
import Testing

@testable import ProbeInspect

@Suite struct ProtobufTextTests {
    private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.field(number, bytes)
        return writer.bytes
    }

    private static func field(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

    private static func field(_ number: Int, _ value: UInt64) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.field(number, varint: value)
        return writer.bytes
    }

    private static func lines(_ message: [UInt8], _ text: ProtobufText = ProtobufText()) -> [String] {
        text.lines(of: message, in: 0..<message.count)
    }

    /// Messages, each with the output of `protoc --decode_raw` 3.21.
    private static let raw: [([UInt8], [String])] = [
        ([], []),
        (field(1, 150), ["1: 150"]),
        (field(2, UInt64.max), ["2: 18446744073709551615"]),
        (field(3, field(1, 5) + field(2, 5)), ["3 {", "  1: 5", "  2: 5", "}"]),
        ([0x25, 7, 0, 0, 0], ["4: 0x00000007"]),
        ([0x41, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], ["8: 0x3ff8000000000000"]),
        (field(6, [1, 0xFE, 0xFF]), [#"6: "\001\376\377""#]),
        (field(7, "A\"d'\\\n\r\t\u{E9}"), [#"7: "A\"d\'\\\n\r\t\303\251""#]),
        (field(13, ""), [#"13: """#]),
        (
            [0x0B, 0x08, 0x01, 0x0C, 0x12, 0x00, 0x1A, 0x02, 0x08, 0x96],
            ["1 {", "  1: 1", "}", #"2: """#, #"3: "\010\226""#]
        ),
        // A text that looks like the beginning of a nested message, but is not a nested message.
        (field(1, "testing"), [#"1: "testing""#]),
    ]

    @Test(arguments: raw)
    func fieldsAreShownByNumber(_ message: [UInt8], _ lines: [String]) {
        #expect(Self.lines(message) == lines)
    }

    @Test func damageIsReported() {
        #expect(Self.lines([0x08, 0x01, 0x10]) == ["1: 1", "(at byte 2: the message ends inside the field)"])
        #expect(
            Self.lines([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F])
                == ["(at byte 0: the length 4294967295 exceeds the remaining 0 bytes)"])
        #expect(Self.lines([0x0E]) == ["(at byte 0: wire type 6 does not exist)"])
    }

    /// A message with any depth of nesting can be shown without exhausting the stack.
    @Test func deepNestingIsShown() {
        var message = Self.field(1, 1)
        for _ in 0..<5_000 { message = Self.field(1, message) }
        let lines = Self.lines(message)
        #expect(lines.count == 21)
        #expect(lines[10].hasPrefix("                    1: \""))
        let groups = [UInt8](repeating: 0x0B, count: 99) + [UInt8](repeating: 0x0C, count: 99)
        #expect(Self.lines(groups).count == 198)
    }

    // MARK: By names

    /// The descriptor set of `package demo; message Point { int32 x = 1; sint32 y = 2; } enum Color { RED = 0; }` and
    /// of a message with a field of every type.
    private static let descriptors: [UInt8] = {
        func declared(_ name: String, _ number: UInt64, _ kind: ProtobufSchema.Kind, _ type: String = "") -> [UInt8] {
            field(1, name) + field(3, number) + field(5, kind.rawValue) + (type.isEmpty ? [] : field(6, type))
        }
        let point = field(1, "Point") + field(2, declared("x", 1, .int32)) + field(2, declared("y", 2, .sint32))
        let color =
            field(1, "Color") + field(2, field(1, "RED") + field(2, 0)) + field(2, field(1, "BLUE") + field(2, 7))
        let kinds: [ProtobufSchema.Kind] = [
            .double, .float, .int64, .uint64, .int32, .fixed64, .fixed32, .bool, .string, .bytes, .uint32, .sfixed32,
            .sfixed64, .sint32, .sint64,
        ]
        var all = field(1, "All")
        for kind in kinds { all += field(2, declared("\(kind)", kind.rawValue, kind)) }
        all += field(2, declared("color", 14, .enumeration, ".demo.Color"))
        all += field(2, declared("point", 11, .message, ".demo.Point"))
        all += field(2, declared("old", 10, .group, ".demo.Point"))
        all += field(3, field(1, "Inner") + field(2, declared("t", 1, .string)))
        all += field(2, declared("inner", 20, .message, ".demo.All.Inner"))
        let added = declared("more", 100, .int32) + field(2, ".demo.Point")
        return field(
            1,
            field(1, "a.proto") + field(2, "demo") + field(4, point) + field(4, all) + field(5, color) + field(7, added)
        )
    }()

    private static let named: [([UInt8], [String])] = [
        ([0x09, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F], ["double: 1.5"]),
        ([0x09, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F], ["double: nan"]),
        ([0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF], ["double: -inf"]),
        ([0x09, 0x40, 0x8C, 0xB5, 0x78, 0x1D, 0xAF, 0x15, 0x44], ["double: 1e+20"]),
        ([0x15, 0xCD, 0xCC, 0xCC, 0xBD], ["float: -0.1"]),
        (field(3, UInt64.max), ["int64: -1"]), (field(4, UInt64.max), ["uint64: 18446744073709551615"]),
        (field(5, UInt64.max), ["int32: -1"]), (field(13, 7), ["uint32: 7"]),
        (field(8, 2), ["bool: true"]), (field(8, 0), ["bool: false"]),
        (field(17, 5), ["sint32: -3"]), (field(18, UInt64.max), ["sint64: -9223372036854775808"]),
        ([0x7D, 0xFE, 0xFF, 0xFF, 0xFF], ["sfixed32: -2"]), ([0x3D, 0xFE, 0xFF, 0xFF, 0xFF], ["fixed32: 4294967294"]),
        (field(9, "x"), [#"string: "x""#]), (field(12, [0]), [#"bytes: "\000""#]),
        (field(14, 7), ["color: BLUE"]), (field(14, 3), ["color: 3"]),
        (field(11, field(1, 5) + field(2, 5)), ["point {", "  x: 5", "  y: -3", "}"]),
        (field(11, ""), ["point {", "}"]),
        (field(11, field(100, 9)), ["point {", "  [demo.more]: 9", "}"]),
        ([0x53, 0x08, 0x01, 0x54], ["old {", "  x: 1", "}"]),
        (field(20, field(1, "a")), ["inner {", #"  t: "a""#, "}"]),
        // Packed fields, and fields that are not declared or have another wire type.
        (field(5, [1, 0xAC, 0x02]), ["int32: 1", "int32: 300"]), (field(5, [0x80]), [#"5: "\200""#]),
        (field(99, 1), ["99: 1"]), (field(9, 1), ["9: 1"]), (field(1, 1), ["1: 1"]),
    ]

    @Test(arguments: named)
    func fieldsAreShownByName(_ message: [UInt8], _ lines: [String]) throws {
        let schema = try ProtobufSchema(Self.descriptors)
        #expect(Self.lines(message, ProtobufText(schema: schema, name: "demo.All")) == lines)
    }

    @Test func invalidSchemasAreRefused() throws {
        #expect(
            try ProtobufSchema(Self.descriptors).messages.keys.sorted() == ["demo.All", "demo.All.Inner", "demo.Point"])
        for bytes in [
            Array("syntax = \"proto3\";".utf8), [0x08, 0x01], Self.field(1, Self.field(4, Self.field(2, ""))),
        ] {
            #expect(throws: ProtobufSchema.Problem.self) { try ProtobufSchema(bytes) }
        }
        #expect(throws: ProtobufSchema.Problem(text: "contains no messages")) { try ProtobufSchema([]) }
        // Every proper prefix of a descriptor set is reported as invalid.
        for length in 0..<Self.descriptors.count {
            #expect(throws: ProtobufSchema.Problem.self) { try ProtobufSchema(Array(Self.descriptors.prefix(length))) }
        }
    }

    // MARK: The location of a message

    private static let contents: [(Framing, [UInt8], Int, Range<Int>)] = [
        (.varint, [2, 8, 1], 0, 1..<3), (.varint, [0x80, 1] + [UInt8](repeating: 0, count: 128), 0, 2..<130),
        (.u32, [0, 0, 0, 1, 9], 0, 4..<5), (.u32, [0, 0], 0, 2..<2), (.lf, [8, 1, 10], 1, 0..<2),
        (.netstring, Array("2:ab,".utf8), 0, 2..<4), (.none, [8, 1], 0, 0..<2),
    ]

    @Test(arguments: contents)
    func contentExcludesTheFraming(_ framing: Framing, _ bytes: [UInt8], _ terminator: Int, _ range: Range<Int>) {
        let message = MessageScan.Message(
            number: 1, offset: 0, bytes: bytes, cuts: [], terminatorLength: terminator, bareCount: 0, isFinished: true)
        #expect(MessageScan.content(of: message, framing) == range)
    }
}
