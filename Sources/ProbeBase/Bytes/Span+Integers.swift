/// Methods that read integers from untrusted bytes. These methods return `nil` if there are too few bytes, and never
/// trap.
extension Span<UInt8> {
    @inlinable @inline(__always)
    package func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? self[offset] : nil
    }

    @inlinable @inline(__always)
    package func big16(at offset: Int) -> UInt16? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return UInt16(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
    }

    @inlinable @inline(__always)
    package func big32(at offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
    }

    @inlinable @inline(__always)
    package func big64(at offset: Int) -> UInt64? {
        guard offset >= 0, offset <= count - 8 else { return nil }
        return UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    @inlinable @inline(__always)
    package func little16(at offset: Int) -> UInt16? { big16(at: offset)?.byteSwapped }

    @inlinable @inline(__always)
    package func little32(at offset: Int) -> UInt32? { big32(at: offset)?.byteSwapped }

    @inlinable @inline(__always)
    package func little64(at offset: Int) -> UInt64? { big64(at: offset)?.byteSwapped }

    /// Returns the part of a range that is within the span's bounds.
    @inlinable @inline(__always)
    package func clamping(_ range: Range<Int>) -> Range<Int> {
        range.clamped(to: 0..<count)
    }

    /// A copy of the bytes.
    @inlinable package var array: [UInt8] {
        var copy: [UInt8] = []
        copy.append(span: self)
        return copy
    }
}

extension [UInt8] {
    /// Appends a span with one memory copy.
    @inlinable package mutating func append(span: Span<UInt8>) {
        // The pointer does not escape from the closure. This toolchain offers no other way to copy a span in a single
        // operation.
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension UInt8 {
    /// The hexadecimal digits in lower case.
    package static let hexDigits = Array("0123456789abcdef".utf8)

    /// The value of a hexadecimal digit, 0 to 15; `nil` if the byte is not a hexadecimal digit.
    package var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
