import ProbeBase

@testable import ProbeInspect

/// Fuzzes valid and invalid protobuf messages: the reader, paths, and the text that `inspect` prints, without a schema
/// and with a schema that is read from the input. The fuzzer is compiled with ProbeBase and a part of ProbeInspect.
///
/// The fields of a message must be the same after they have been written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProtobuf(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let cut = min(input.count, 1 + Int(first) * 4)
    let message = Array(input.dropFirst())
    let fields = fieldsOf(message)
    var writer = ProtobufWriter()
    var written: [ProtobufReader.Field] = []
    for field in fields {
        switch field.value {
        case .varint(let value): writer.field(field.number, varint: value)
        case .fixed32(let value): writer.field(field.number, fixed32: value)
        case .fixed64(let value): writer.field(field.number, fixed64: value)
        case .bytes(let range): writer.field(field.number, Array(message[range]))
        default: continue
        }
        written.append(field)
    }
    let again = fieldsOf(writer.bytes)
    precondition(again.count == written.count, "a field was lost")
    for (one, other) in zip(written, again) {
        precondition(one.number == other.number)
        if case .bytes(let range) = one.value, case .bytes(let copy) = other.value {
            precondition(message[range].elementsEqual(writer.bytes[copy]), "bytes were changed")
        } else {
            precondition(one.value == other.value, "a value was changed")
        }
    }
    for field in fields.prefix(8) {
        for index in [nil, 0, 1] {
            let path = ProtobufPath([.init(number: field.number, index: index), .init(number: 1)])
            _ = try? path.find(in: message.span)
            _ = try? ProtobufPath([.init(number: field.number, index: index)]).find(in: message.span)
        }
    }
    _ = ProtobufText().lines(of: message, in: 0..<message.count)
    if let schema = try? ProtobufSchema(Array(input[1..<cut])) {
        for name in ["", "a.A", "A"] {
            _ = ProtobufText(schema: schema, name: name).lines(of: input, in: cut..<input.count)
        }
    }
    return 0
}

private func fieldsOf(_ message: [UInt8]) -> [ProtobufReader.Field] {
    var reader = ProtobufReader(0..<message.count)
    var fields: [ProtobufReader.Field] = []
    while let field = try? reader.next(in: message.span) { fields.append(field) }
    return fields
}
