/// A member of the JSON object that represents a value of `Root`, and the property that the member is read into.
///
/// A list of fields defines the JSON format of a type. The members are written in the order of the list.
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
    /// Returns the members of the object that represents `root`, in the order of the fields.
    package func members<Root>(of root: Root) -> [JSONValue.Member] where Element == JSONField<Root> {
        var members: [JSONValue.Member] = []
        for field in self { field.encode(root, &members) }
        return members
    }

    /// Reads the members of a JSON object; members for which there is no field are ignored.
    package func decode<Root>(
        _ value: JSONValue, into root: inout Root
    ) throws(JSONContentError) where Element == JSONField<Root> {
        for field in self { try field.decode(value, &root) }
    }
}

// MARK: - Kinds of members

extension JSONField {
    package typealias Property<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// Returns a field for a member that must be present.
    package static func required<Value>(
        _ name: String, _ property: Property<Value>, _ codec: JSONCodec<Value>
    ) -> JSONField {
        JSONField { root, members in
            members.append((name, codec.encode(root[keyPath: property])))
        } decode: { (value, root) throws(JSONContentError) in
            root[keyPath: property] = try value.required(name, codec)
        }
    }

    /// Returns a field for a member that is missing, or null, if the property is `nil`.
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

    /// Returns a field for a member that may be missing. If the member is missing, the property keeps its value.
    ///
    /// - Parameter isOmitted: whether the member is omitted when the property has the given value.
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

    /// Returns a field for a member that is present only if the property is `true`.
    package static func mark(_ name: String, _ property: Property<Bool>) -> JSONField {
        .defaulted(name, property, .flag, isOmitted: { !$0 })
    }

    /// Returns a field for an array that may be missing. If the array is missing, the property keeps its value.
    package static func list<Value>(
        _ name: String, _ property: Property<[Value]>, _ codec: JSONCodec<[Value]>, writesEmpty: Bool = true
    ) -> JSONField {
        .defaulted(name, property, codec, isOmitted: { !writesEmpty && $0.isEmpty })
    }

    /// Returns a field for a JSON object that groups properties of the root.
    package static func nested(_ name: String, _ fields: [JSONField]) -> JSONField {
        JSONField { root, members in
            members.append((name, .object(fields.members(of: root))))
        } decode: { (value, root) throws(JSONContentError) in
            try fields.decode(try value.required(name, .anyObject), into: &root)
        }
    }

    /// Returns a field for a property whose members are flattened into the root's JSON object.
    package static func part<Part>(_ property: Property<Part>, _ codec: JSONCodec<Part>) -> JSONField {
        JSONField { root, members in
            members += codec.members(of: root[keyPath: property])
        } decode: { (value, root) throws(JSONContentError) in
            root[keyPath: property] = try codec.decode(value)
        }
    }

    /// Returns a field for an optional property whose members are flattened into the root's JSON object; a property
    /// that is `nil` has no members.
    ///
    /// - Parameter names: the property is read if at least one of these members is present.
    package static func optionalPart<Part>(
        _ property: Property<Part?>, _ codec: JSONCodec<Part>, named names: String...
    ) -> JSONField {
        JSONField { root, members in
            if let part = root[keyPath: property] { members += codec.members(of: part) }
        } decode: { (value, root) throws(JSONContentError) in
            if names.contains(where: { value[$0] != nil }) { root[keyPath: property] = try codec.decode(value) }
        }
    }

    /// Returns a field for a member that is written but not read. The member is omitted if `value` returns `nil`.
    package static func written(_ name: String, _ value: @escaping @Sendable (Root) -> JSONValue?) -> JSONField {
        JSONField { root, members in
            if let value = value(root) { members.append((name, value)) }
        } decode: { _, _ in
        }
    }
}
