import ProbeBase

/// The reason why reading a capture file stopped, and the offset at which it stopped. Everything before the offset is
/// valid.
package struct CaptureFileError: Error, Sendable, Hashable {
    package enum Reason: Error, Sendable, Hashable {
        /// The first four bytes of the file do not identify a capture file.
        case notACapture(magic: UInt32)
        case unsupportedVersion(major: UInt16, minor: UInt16)
        /// The file ends inside a record or block of `length` bytes, and contains only the first `present` of these
        /// bytes.
        case endsInside(length: Int, present: Int)
        /// A record is longer than any packet can be.
        case recordTooLong(length: Int, limit: Int)
        /// A block's length is less than the minimum or not a multiple of four, or the lengths at the block's start and
        /// end differ.
        case badBlockLength(Int)
        /// A packet or an option extends beyond the end of its block.
        case lengthBeyondBlock(Int)
        case unknownInterface(Int)
        case notASection
    }

    /// The offset of the error from the file's first byte.
    package var offset: UInt64
    package var reason: Reason

    package init(offset: UInt64, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}

extension CaptureFileError: CustomStringConvertible {
    package var description: String { "at byte \(offset): \(text)" }

    private var text: String {
        switch reason {
        case .notACapture(let magic): "not a pcap or pcapng file (it starts with 0x\(String(magic, radix: 16)))"
        case .unsupportedVersion(let major, let minor): "unknown format version \(major).\(minor)"
        case .endsInside(let length, let present):
            "the file ends inside a record, after \(present) of \(ByteText.count(length, "byte"))"
        case .recordTooLong(let length, let limit): "a record has \(length) bytes, more than the maximum of \(limit)"
        case .badBlockLength(let length):
            "the block length \(length) is invalid, or differs from the one at the end of the block"
        case .lengthBeyondBlock(let length): "the length \(length) extends beyond its block"
        case .unknownInterface(let number): "a packet refers to interface \(number), which is not described"
        case .notASection: "a section header has no byte-order magic"
        }
    }
}
