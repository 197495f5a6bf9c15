import ProbeBase
import Testing

@Suite struct ProtobufTests {
    /// Returns the fields of a message, each as `number:value`, and the error, if any, that ended the reading.
    private static func read(_ message: [UInt8]) -> (fields: [String], problem: ProtobufReader.Problem?) {
        var reader = ProtobufReader(0..<message.count)
        var fields: [String] = []
        do throws(ProtobufReader.Problem) {
            while let field = try reader.next(in: message.span) { fields.append("\(field.number):\(field.value)") }
        } catch {
            return (fields, error)
        }
        return (fields, nil)
    }

    /// The examples in the page *Encoding* of the Protocol Buffers documentation, and the limits of each type.
    private static let messages: [([UInt8], [String])] = [
        ([], []),
        ([0x08, 0x96, 0x01], ["1:varint(150)"]),
        ([0x12, 0x07] + "testing".utf8, ["2:bytes(Range(2..<9))"]),
        ([0x1A, 0x03, 0x08, 0x96, 0x01], ["3:bytes(Range(2..<5))"]),
        ([0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05], ["6:bytes(Range(2..<8))"]),
        ([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], ["1:varint(\(UInt64.max))"]),
        // An encoding that is longer than necessary is valid, even in a tag.
        ([0x88, 0x00, 0x81, 0x80, 0x00], ["1:varint(1)"]),
        ([0x0D, 1, 0, 0, 0x80], ["1:fixed32(2147483649)"]),
        ([0x09, 1, 0, 0, 0, 0, 0, 0, 0x80], ["1:fixed64(9223372036854775809)"]),
        ([0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x00], ["536870911:varint(0)"]),
        ([0x0A, 0x00], ["1:bytes(Range(2..<2))"]),
        ([0x0B, 0x08, 0x01, 0x13, 0x14, 0x0C, 0x10, 0x02], ["1:group(Range(1..<5))", "2:varint(2)"]),
    ]

    @Test(arguments: messages)
    func fieldsAreRead(_ message: [UInt8], _ fields: [String]) {
        let result = Self.read(message)
        #expect(result.fields == fields)
        #expect(result.problem == nil)
    }

    private static let damaged: [([UInt8], ProtobufReader.Problem.Kind, Int)] = [
        ([0x08], .truncated, 0),
        ([0x80], .truncated, 0),
        ([0x08, 0x01, 0x10, 0x80], .truncated, 2),
        ([0x0D, 1, 2, 3], .truncated, 0),
        ([0x09, 1, 2, 3, 4, 5, 6, 7], .truncated, 0),
        ([0x0A, 0x02, 0x61], .lengthBeyondEnd(2, remaining: 1), 0),
        ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], .lengthBeyondEnd(0xFFFF_FFFF, remaining: 0), 0),
        (
            [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            .lengthBeyondEnd(UInt64.max, remaining: 0), 0
        ),
        ([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], .longVarint, 0),
        ([0x08] + [UInt8](repeating: 0x80, count: 10) + [0], .longVarint, 0),
        ([0x0E], .wireType(6), 0), ([0x0F], .wireType(7), 0),
        ([0x00, 0x01], .fieldNumber(0), 0),
        ([0x80, 0x80, 0x80, 0x80, 0x10, 0x01], .fieldNumber(1 << 29), 0),
        ([0x0C], .strayEnd(1), 0), ([0x0B, 0x14], .strayEnd(2), 1), ([0x0B, 0x08, 0x01], .truncated, 0),
        ([UInt8](repeating: 0x0B, count: 101), .tooDeep, 100),
    ]

    @Test(arguments: damaged)
    func damagedMessagesAreReported(_ message: [UInt8], _ kind: ProtobufReader.Problem.Kind, _ offset: Int) {
        let result = Self.read(message)
        #expect(result.problem == ProtobufReader.Problem(kind: kind, offset: offset))
    }

    /// Every prefix of a message either contains fewer fields or is reported as truncated.
    @Test func everyPrefixIsTruncatedOrShorter() {
        var writer = ProtobufWriter()
        writer.field(1, varint: 300)
        writer.field(2, fixed32: 7)
        writer.field(3, Array("text".utf8))
        writer.field(4, fixed64: 8)
        let message = writer.bytes + [0x2B, 0x08, 0x01, 0x2C]
        let all = Self.read(message).fields
        #expect(all.count == 5)
        var whole = 0
        for length in 0...message.count {
            let result = Self.read(Array(message.prefix(length)))
            #expect(result.fields == Array(all.prefix(result.fields.count)))
            switch result.problem?.kind {
            case nil: whole += 1
            case .truncated, .lengthBeyondEnd: break
            case let kind?: Issue.record("\(length): \(kind)")
            }
        }
        // A prefix is valid only if it ends between two fields of the message.
        #expect(whole == 6)
    }

    @Test(arguments: [
        (Int64(0), UInt64(0)), (-1, 1), (1, 2), (-2, 3), (Int64.max, UInt64.max - 1), (Int64.min, UInt64.max),
    ])
    func zigzagMatchesTheSpecification(_ value: Int64, _ encoded: UInt64) {
        #expect(ProtobufWriter.zigzag(value) == encoded)
    }

    // MARK: Paths

    private static func find(_ parts: [(Int, Int?)], in message: [UInt8]) throws(ProtobufPath.Failure)
        -> ProtobufPath.Found
    {
        try ProtobufPath(parts.map { ProtobufPath.Part(number: $0.0, index: $0.1) }).find(in: message.span)
    }

    /// The message `1: 5, 3 { 1: 7 }, 3 { 1: 8, 1: 9 }`.
    private static let nested: [UInt8] = [0x08, 0x05, 0x1A, 0x02, 0x08, 0x07, 0x1A, 0x04, 0x08, 0x08, 0x08, 0x09]

    @Test func pathsFindTheirFields() throws {
        #expect(try Self.find([(1, nil)], in: Self.nested) == .varint(5))
        #expect(try Self.find([(1, 0)], in: Self.nested) == .varint(5))
        #expect(try Self.find([(3, 0), (1, nil)], in: Self.nested) == .varint(7))
        #expect(try Self.find([(3, 1), (1, 1)], in: Self.nested) == .varint(9))
        #expect(try Self.find([(3, 1)], in: Self.nested) == .bytes(8..<12))
    }

    @Test func missingFieldsAreReported() {
        func failure(_ parts: [(Int, Int?)], _ message: [UInt8] = Self.nested) -> ProtobufPath.Failure? {
            do throws(ProtobufPath.Failure) { _ = try Self.find(parts, in: message) } catch { return error }
            return nil
        }
        #expect(failure([(2, nil)]) == .missing("2", others: [1, 3]))
        #expect(failure([(3, nil)]) == .repeated("3", count: 2))
        #expect(failure([(3, 2)]) == .missingIndex("3[2]", count: 2))
        #expect(failure([(3, 1), (1, nil)]) == .repeated("3[1].1", count: 2))
        #expect(failure([(1, nil), (1, nil)]) == .noMessage("1"))
        // The field precedes the truncation, but the message is read to its end, so the truncation is reported.
        let truncated = ProtobufReader.Problem(kind: .truncated, offset: 2)
        #expect(failure([(1, nil)], [0x08, 0x05, 0x10]) == .malformed(within: nil, truncated))
        #expect(
            failure([(3, nil), (1, nil)], [0x1A, 0x03, 0x08, 0x05, 0x10]) == .malformed(within: "3", truncated))
    }
}
