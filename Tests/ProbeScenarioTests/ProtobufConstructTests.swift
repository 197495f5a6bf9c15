import ProbeBase
import ProbeScenario
import Testing

@Suite struct ProtobufConstructTests {
    private static let messages: [(String, [UInt8])] = [
        ("pb()", []),
        ("pb(1: 150)", [0x08, 0x96, 0x01]),
        (#"pb(2: "testing")"#, [0x12, 0x07] + Array("testing".utf8)),
        ("pb(3: pb(1: 150))", [0x1A, 0x03, 0x08, 0x96, 0x01]),
        ("pb(6: [3, 270, 86942])", [0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05]),
        ("pb(4: fixed32 7)", [0x25, 7, 0, 0, 0]),
        ("pb(4: fixed64 7)", [0x21, 7, 0, 0, 0, 0, 0, 0, 0]),
        ("pb(5: sint -1, 5: sint 1, 5: sint -2)", [0x28, 1, 0x28, 2, 0x28, 3]),
        ("pb(1: int -1)", [0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
        ("pb(1: int 5)", [0x08, 5]),
        ("pb(1: int -9223372036854775808)", [0x08] + [UInt8](repeating: 0x80, count: 9) + [0x01]),
        ("pb(1: sint [-1, 1], 2: fixed32 [1], 3: [])", [0x0A, 2, 1, 2, 0x12, 4, 1, 0, 0, 0, 0x1A, 0]),
        ("pb(1: [sint -1, 1])", [0x0A, 2, 1, 1]),
        (
            "pb(n: n + 1, 2: int(\"7\"), 3: int (0 - 1))",
            [0x28, 6, 0x10, 7, 0x18] + [UInt8](repeating: 0xFF, count: 9) + [1]
        ),
        ("pb(536870911: 0)", [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x00]),
        ("pb(9: \"\" * 3, 1: hex(00 ff))", [0x4A, 0, 0x0A, 2, 0, 0xFF]),
        ("sized(varint, pb(1: 1))", [2, 8, 1]),
    ]

    @Test(arguments: messages)
    func messagesAreEncoded(_ text: String, _ bytes: [UInt8]) throws {
        #expect(try EvaluatorTests.value(text, variables: ["n": .integer(5)]).bytes == bytes)
    }

    private static let fields: [(String, Value)] = [
        ("pb(pb(1: 150), 1)", .integer(150)),
        ("pb(pb(1: int -1), 1)", .integer(-1)),
        ("pb(pb(1: sint -1), 1)", .integer(1)),
        ("pb(pb(1: fixed32 4294967295), 1)", .integer(4_294_967_295)),
        ("pb(pb(1: \"x\"), 1)", .bytes([0x78])),
        ("pb(pb(3: pb(1: 7)), 3.1)", .integer(7)),
        ("pb(pb(3: pb(1: 7), 3: pb(1: 8)), 3[1].1)", .integer(8)),
        ("pb(pb(3: pb(2: pb(1: 8))), 3.2.1)", .integer(8)),
        ("pb(pb(3: pb(2: pb(1: 8), 2: pb(1: 9))), 3.2[1].1)", .integer(9)),
        ("pb(pb(3: pb(2: 5)), 3[0].2[0])", .integer(5)),
    ]

    @Test(arguments: fields)
    func fieldsAreExtracted(_ text: String, _ value: Value) throws {
        #expect(try EvaluatorTests.value(text) == value)
    }

    private static let failures: [(String, String)] = [
        ("pb(pb(1: 1), 2)", "there is no field 2; the fields are 1"),
        (
            "pb(hex(0a 05 61), 1)",
            "the value is not a valid protobuf message: the length 5 exceeds the remaining 1 byte (field at byte 0)"
        ),
        ("pb(pb(1: 1, 1: 2), 1)", "field 1 occurs 2 times"),
        (
            "pb(pb(3: hex(08)), 3.1)",
            "field 3 is not a valid protobuf message: the message ends inside the field (field at byte 0)"
        ),
        ("pb(1: n - 1)", "-1 is negative"),
        ("pb(0 + n: 1)", "0 is out of range for a field number: expected 1 to 536870911"),
    ]

    @Test(arguments: failures)
    func failuresAreExplained(_ text: String, _ message: String) {
        let error = #expect(throws: EvaluationError.self) {
            try EvaluatorTests.value(text, variables: ["n": .integer(0)])
        }
        #expect(error?.reason.text == message)
    }
}
