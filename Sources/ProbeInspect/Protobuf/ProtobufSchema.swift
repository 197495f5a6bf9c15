import ProbeBase

/// The names of messages and fields, read from a descriptor set in the format that `protoc --descriptor_set_out` writes
/// (descriptor.proto).
package struct ProtobufSchema: Sendable {
    /// The type of a field's value (FieldDescriptorProto.Type).
    package enum Kind: UInt64, Sendable {
        case double = 1, float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32
        case enumeration, sfixed32, sfixed64, sint32, sint64
    }

    package struct Field: Sendable, Equatable {
        package var name = ""
        /// The type of the field's value; `nil` if the type was introduced by a later version of protobuf.
        package var kind: Kind?
        /// The full name of the field's message or enumeration type: `demo.Point`.
        package var typeName = ""
    }

    package struct Message: Sendable, Equatable {
        package var fields: [Int: Field] = [:]
    }

    package struct Problem: Error, Equatable, Sendable {
        package var text: String
    }

    package private(set) var messages: [String: Message] = [:]
    package private(set) var enumerations: [String: [Int32: String]] = [:]

    /// Parses a schema.
    ///
    /// - Parameter set: the bytes of a FileDescriptorSet.
    package init(_ set: [UInt8]) throws(Problem) {
        try Self.each(in: set, 0..<set.count) { field throws(Problem) in
            guard field.number == 1, case .bytes(let file) = field.value else { throw Self.noSet }
            try addFile(file, in: set)
        }
        if messages.isEmpty { throw Problem(text: "contains no messages") }
    }

    private static let noSet = Problem(text: "not a descriptor set")

    private static func each(
        in set: [UInt8], _ range: Range<Int>, _ body: (ProtobufReader.Field) throws(Problem) -> Void
    ) throws(Problem) {
        var reader = ProtobufReader(range)
        while true {
            let field: ProtobufReader.Field?
            do throws(ProtobufReader.Problem) { field = try reader.next(in: set.span) } catch {
                throw Problem(text: "\(noSet.text): byte \(error.offset): \(error.text)")
            }
            guard let field else { return }
            try body(field)
        }
    }

    private static func text(_ range: Range<Int>, _ set: [UInt8]) -> String {
        String(decoding: set[range], as: UTF8.self)
    }

    // MARK: Descriptors

    private mutating func addFile(_ range: Range<Int>, in set: [UInt8]) throws(Problem) {
        var package = ""
        var (types, enumerations, extensions): ([Range<Int>], [Range<Int>], [Range<Int>]) = ([], [], [])
        try Self.each(in: set, range) { field throws(Problem) in
            switch (field.number, field.value) {
            case (2, .bytes(let name)): package = Self.text(name, set)
            case (4, .bytes(let type)): types.append(type)
            case (5, .bytes(let enumeration)): enumerations.append(enumeration)
            case (7, .bytes(let field)): extensions.append(field)
            default: break
            }
        }
        for type in types { try addMessage(type, within: package, in: set, depth: 0) }
        for enumeration in enumerations { try addEnumeration(enumeration, within: package, in: set) }
        for field in extensions { try addExtension(field, within: package, in: set) }
    }

    private static func full(_ name: String, _ outer: String) -> String { outer.isEmpty ? name : "\(outer).\(name)" }

    private mutating func addMessage(
        _ range: Range<Int>, within outer: String, in set: [UInt8], depth: Int
    ) throws(Problem) {
        guard depth < 64 else { throw Problem(text: "message declarations are nested more than 64 deep") }
        var name = ""
        var message = Message()
        var (types, enumerations, extensions): ([Range<Int>], [Range<Int>], [Range<Int>]) = ([], [], [])
        try Self.each(in: set, range) { field throws(Problem) in
            switch (field.number, field.value) {
            case (1, .bytes(let text)): name = Self.text(text, set)
            case (2, .bytes(let descriptor)):
                let declared = try Self.field(descriptor, set)
                message.fields[declared.number] = declared.field
            case (3, .bytes(let type)): types.append(type)
            case (4, .bytes(let enumeration)): enumerations.append(enumeration)
            case (6, .bytes(let field)): extensions.append(field)
            default: break
            }
        }
        guard !name.isEmpty else { throw Self.noSet }
        let whole = Self.full(name, outer)
        // An extension of this message may have been read before the message itself.
        messages[whole, default: Message()].fields.merge(message.fields) { old, _ in old }
        for type in types { try addMessage(type, within: whole, in: set, depth: depth + 1) }
        for enumeration in enumerations { try addEnumeration(enumeration, within: whole, in: set) }
        for field in extensions { try addExtension(field, within: whole, in: set) }
    }

    private struct Declared {
        var number = 0
        var field = Field()
        /// The name of the message that an extension extends.
        var extended = ""
    }

    private static func field(_ range: Range<Int>, _ set: [UInt8]) throws(Problem) -> Declared {
        var declared = Declared()
        try each(in: set, range) { field throws(Problem) in
            switch (field.number, field.value) {
            case (1, .bytes(let name)): declared.field.name = text(name, set)
            case (2, .bytes(let name)): declared.extended = withoutDot(text(name, set))
            case (3, .varint(let number)): declared.number = Int(truncatingIfNeeded: number)
            case (5, .varint(let kind)): declared.field.kind = Kind(rawValue: kind)
            case (6, .bytes(let name)): declared.field.typeName = withoutDot(text(name, set))
            default: break
            }
        }
        return declared
    }

    /// Removes the leading dot, which marks a fully qualified name in a descriptor.
    private static func withoutDot(_ name: String) -> String { name.hasPrefix(".") ? String(name.dropFirst()) : name }

    private mutating func addExtension(_ range: Range<Int>, within outer: String, in set: [UInt8]) throws(Problem) {
        var declared = try Self.field(range, set)
        declared.field.name = "[\(Self.full(declared.field.name, outer))]"
        messages[declared.extended, default: Message()].fields[declared.number] = declared.field
    }

    private mutating func addEnumeration(_ range: Range<Int>, within outer: String, in set: [UInt8]) throws(Problem) {
        var name = ""
        var values: [Int32: String] = [:]
        try Self.each(in: set, range) { field throws(Problem) in
            switch (field.number, field.value) {
            case (1, .bytes(let text)): name = Self.text(text, set)
            case (2, .bytes(let value)):
                var (word, number) = ("", Int32(0))
                try Self.each(in: set, value) { field throws(Problem) in
                    switch (field.number, field.value) {
                    case (1, .bytes(let text)): word = Self.text(text, set)
                    case (2, .varint(let bits)): number = Int32(truncatingIfNeeded: bits)
                    default: break
                    }
                }
                // If several names have the same number, the first name is the canonical one.
                if values[number] == nil { values[number] = word }
            default: break
            }
        }
        enumerations[Self.full(name, outer)] = values
    }
}
