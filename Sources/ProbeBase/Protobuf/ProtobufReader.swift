/// Reads protobuf's wire format one field at a time (Protocol Buffers Documentation, *Encoding*). The reader copies no
/// data and never traps.
package struct ProtobufReader: Sendable {
    package enum Value: Equatable, Sendable {
        case varint(UInt64)
        case fixed32(UInt32)
        case fixed64(UInt64)
        /// The range of bytes that a string, a byte string, a nested message or packed numbers occupy in the message.
        case bytes(Range<Int>)
        /// The range of a group's fields. A group is a message between two tags; groups are deprecated, but still
        /// valid.
        case group(Range<Int>)
    }

    package struct Field: Equatable, Sendable {
        package var number: Int
        package var value: Value
    }

    package struct Problem: Error, Equatable, Sendable {
        package enum Kind: Equatable, Sendable {
            /// The message ends in the middle of the field.
            case truncated
            /// The length of the field's contents exceeds the number of remaining bytes.
            case lengthBeyondEnd(UInt64, remaining: Int)
            /// A varint has more than 10 bytes, or represents more than 64 bits.
            case longVarint
            /// The wire type is 6 or 7, neither of which is defined.
            case wireType(Int)
            /// The field number is 0, or above 2^29 - 1.
            case fieldNumber(UInt64)
            /// An end tag belongs to a group that has not begun, or to a group that is not the innermost one.
            case strayEnd(Int)
            case tooDeep
        }

        package var kind: Kind
        /// The offset of the field's first byte in the message.
        package var offset: Int

        package init(kind: Kind, offset: Int) {
            self.kind = kind
            self.offset = offset
        }
    }

    /// The maximum nesting depth of groups, which is protobuf's own limit.
    private static let maxGroupDepth = 100

    private var offset: Int
    private let end: Int

    /// Creates a reader.
    ///
    /// - Parameter range: the part of the message that is read. Offsets are counted from the start of the whole
    ///   message.
    package init(_ range: Range<Int>) {
        offset = range.lowerBound
        end = range.upperBound
    }

    /// Returns the next field; `nil` at the end of the range.
    package mutating func next(in message: Span<UInt8>) throws(Problem) -> Field? {
        if offset == end { return nil }
        let start = offset
        let (number, type) = try tag(from: start, in: message)
        let value = try value(number, type, from: start, in: message)
        return Field(number: number, value: value)
    }

    private mutating func tag(from start: Int, in message: Span<UInt8>) throws(Problem) -> (Int, Int) {
        let tag = try varint(from: start, in: message)
        let number = tag >> 3
        guard (1...UInt64(ProtobufWriter.largestField)).contains(number) else {
            throw Problem(kind: .fieldNumber(number), offset: start)
        }
        return (Int(number), Int(tag & 7))
    }

    private mutating func value(_ number: Int, _ type: Int, from start: Int, in message: Span<UInt8>) throws(Problem)
        -> Value
    {
        switch type {
        case 0: return .varint(try varint(from: start, in: message))
        case 1: return .fixed64(try fixed(8, from: start, in: message))
        case 2:
            let length = try varint(from: start, in: message)
            guard length <= UInt64(end - offset) else {
                throw Problem(kind: .lengthBeyondEnd(length, remaining: end - offset), offset: start)
            }
            let first = offset
            offset += Int(length)
            return .bytes(first..<offset)
        case 3:
            let first = offset
            return .group(first..<(try endOfGroup(number, from: start, in: message)))
        case 4: throw Problem(kind: .strayEnd(number), offset: start)
        case 5: return .fixed32(UInt32(truncatingIfNeeded: try fixed(4, from: start, in: message)))
        default: throw Problem(kind: .wireType(type), offset: start)
        }
    }

    /// Moves past a group, and returns the offset at which its fields end.
    private mutating func endOfGroup(_ number: Int, from start: Int, in message: Span<UInt8>) throws(Problem) -> Int {
        var open = [number]
        while true {
            let place = offset
            guard offset < end else { throw Problem(kind: .truncated, offset: start) }
            let (number, type) = try tag(from: place, in: message)
            switch type {
            case 3:
                guard open.count < Self.maxGroupDepth else { throw Problem(kind: .tooDeep, offset: place) }
                open.append(number)
            case 4:
                guard open.popLast() == number else { throw Problem(kind: .strayEnd(number), offset: place) }
                if open.isEmpty { return place }
            default: _ = try value(number, type, from: place, in: message)
            }
        }
    }

    /// Returns the next varint without a tag, as in a packed field.
    package mutating func packedVarint(in message: Span<UInt8>) throws(Problem) -> UInt64? {
        offset == end ? nil : try varint(from: offset, in: message)
    }

    /// Returns the next fixed-width number of 4 or 8 bytes, as in a packed field.
    package mutating func packedFixed(_ count: Int, in message: Span<UInt8>) throws(Problem) -> UInt64? {
        offset == end ? nil : try fixed(count, from: offset, in: message)
    }

    private mutating func varint(from start: Int, in message: Span<UInt8>) throws(Problem) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard offset < end else { throw Problem(kind: .truncated, offset: start) }
            let byte = message[offset]
            offset += 1
            if index == 9, byte > 1 { throw Problem(kind: .longVarint, offset: start) }
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte < 0x80 { return value }
        }
        throw Problem(kind: .longVarint, offset: start)
    }

    /// Reads a little-endian number.
    private mutating func fixed(_ count: Int, from start: Int, in message: Span<UInt8>) throws(Problem) -> UInt64 {
        guard end - offset >= count else { throw Problem(kind: .truncated, offset: start) }
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = value << 8 | UInt64(message[offset + index]) }
        offset += count
        return value
    }
}

extension ProtobufReader.Problem {
    /// A description of the problem without its offset, such as `the length 300 exceeds the remaining 2 bytes`.
    package var text: String {
        switch kind {
        case .truncated: "the message ends inside the field"
        case .lengthBeyondEnd(let length, let remaining):
            "the length \(length) exceeds the remaining \(ByteText.count(remaining, "byte"))"
        case .longVarint: "a varint has more than 64 bits"
        case .wireType(let type): "wire type \(type) does not exist"
        case .fieldNumber(let number): "\(number) is not a valid field number"
        case .strayEnd(let number): "group \(number) ends without having begun"
        case .tooDeep: "groups are nested more than 100 deep"
        }
    }
}
