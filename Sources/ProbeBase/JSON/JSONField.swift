/// A member of the object that values of a type are written as, and the property that it is read into.
///
/// A list of fields is the format of a type: members are written in its order.
package struct JSONField<Root>: Sendable {
    package typealias Encode = @Sendable (Root, inout [JSONValue.Member]) -> Void
    package typealias Decode = @Sendable (JSONValue, inout Root) throws(JSONContentError) -> Void

    fileprivate let encode: Encode
    fileprivate let decode: Decode

    package init(encode: @escaping Encode, decode: @escaping Decode) {
        (self.encode, self.decode) = (encode, decode)
    }
}

extension Array {
    /// The members of an object, in the order of the fields.
    package func members<Root>(of root: Root) -> [JSONValue.Member] where Element == JSONField<Root> {
        var members: [JSONValue.Member] = []
        for field in self { field.encode(root, &members) }
        return members
    }

    /// Reads the members of an object; those that no field names are left out.
    package func decode<Root>(
        _ value: JSONValue, into root: inout Root
    ) throws(JSONContentError) where Element == JSONField<Root> {
        for field in self { try field.decode(value, &root) }
    }
}

// MARK: - Kinds of members

extension JSONField {
    package typealias Property<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// A member that is always there.
    package static func required<Value>(
        _ name: String, _ property: Property<Value>, _ codec: JSONCodec<Value>
    ) -> JSONField {
        JSONField { root, members in
            members.append((name, codec.encode(root[keyPath: property])))
        } decode: { (value, root) throws(JSONContentError) in
            root[keyPath: property] = try value.required(name, codec)
        }
    }

    /// A member that is missing, or null, where the property is nil.
    package static func optional<Value>(
        _ name: String, _ property: Property<Value?>, _ codec: JSONCodec<Value>, writesNull: Bool = false
    ) -> JSONField {
        JSONField { root, members in
            if let value = root[keyPath: property] {
                members.append((name, codec.encode(value)))
            } else if writesNull {
                members.append((name, .null))
            }
        } decode: { (value, root) throws(JSONContentError) in
            root[keyPath: property] = try value.optional(name, codec)
        }
    }

    /// A member that may be missing, which leaves the property as it is.
    ///
    /// - Parameter isOmitted: whether it is not written for a value.
    package static func defaulted<Value>(
        _ name: String, _ property: Property<Value>, _ codec: JSONCodec<Value>,
        isOmitted: @escaping @Sendable (Value) -> Bool = { _ in false }
    ) -> JSONField {
        JSONField { root, members in
            let value = root[keyPath: property]
            if !isOmitted(value) { members.append((name, codec.encode(value))) }
        } decode: { (value, root) throws(JSONContentError) in
            if let value = try value.optional(name, codec) { root[keyPath: property] = value }
        }
    }

    /// A member that is only there where the property is true.
    package static func mark(_ name: String, _ property: Property<Bool>) -> JSONField {
        .defaulted(name, property, .flag, isOmitted: { !$0 })
    }

    /// An array that may be missing, which leaves the property as it is.
    package static func list<Value>(
        _ name: String, _ property: Property<[Value]>, _ codec: JSONCodec<[Value]>, writesEmpty: Bool = true
    ) -> JSONField {
        .defaulted(name, property, codec, isOmitted: { !writesEmpty && $0.isEmpty })
    }

    /// An object that holds properties of the root itself.
    package static func nested(_ name: String, _ fields: [JSONField]) -> JSONField {
        JSONField { root, members in
            members.append((name, .object(fields.members(of: root))))
        } decode: { (value, root) throws(JSONContentError) in
            try fields.decode(try value.required(name, .anyObject), into: &root)
        }
    }

    /// The members of a part among those of the root.
    package static func part<Part>(_ property: Property<Part>, _ codec: JSONCodec<Part>) -> JSONField {
        JSONField { root, members in
            members += codec.members(of: root[keyPath: property])
        } decode: { (value, root) throws(JSONContentError) in
            root[keyPath: property] = try codec.decode(value)
        }
    }

    /// The members of a part among those of the root; none of them where the property is nil.
    ///
    /// - Parameter names: the members that show that there is such a part.
    package static func optionalPart<Part>(
        _ property: Property<Part?>, _ codec: JSONCodec<Part>, named names: String...
    ) -> JSONField {
        JSONField { root, members in
            if let part = root[keyPath: property] { members += codec.members(of: part) }
        } decode: { (value, root) throws(JSONContentError) in
            if names.contains(where: { value[$0] != nil }) { root[keyPath: property] = try codec.decode(value) }
        }
    }

    /// A member that is written and not read; none where it is nil.
    package static func written(_ name: String, _ value: @escaping @Sendable (Root) -> JSONValue?) -> JSONField {
        JSONField { root, members in
            if let value = value(root) { members.append((name, value)) }
        } decode: { _, _ in
        }
    }
}
