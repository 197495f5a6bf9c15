import ProbeBase

/// The values of the options of a TCP header, stored without heap allocation.
package struct TCPOptions: Sendable, Hashable {
    /// The maximum segment size (RFC 9293, section 3.7.1).
    package var maximumSegmentSize: UInt16?
    /// The shift count of the window scale option, as sent (RFC 7323, section 2.2).
    package var windowScale: UInt8?
    /// Whether SACK is permitted (RFC 2018).
    package var isSACKPermitted = false
    package var sack = SACKBlocks()
    /// The timestamp option (RFC 7323, section 3).
    package var timestamp: TCPTimestamp?
    /// The length of the TCP Fast Open cookie; 0 for a cookie request (RFC 7413).
    package var fastOpenCookieLength: Int?
    /// Whether the option list ends inside an option, or an option's length is invalid.
    package var isMalformed = false

    package init() {}

    /// Parses the options in `bytes`, which is the part of the TCP header after its first 20 bytes.
    package init(parsing bytes: Span<UInt8>) {
        var offset = 0
        while let kind = bytes.byte(at: offset), kind != 0 {
            if kind == 1 {
                offset += 1
                continue
            }
            guard let length = bytes.byte(at: offset + 1), length >= 2, offset + Int(length) <= bytes.count else {
                isMalformed = true
                return
            }
            take(kind: kind, content: offset + 2..<offset + Int(length), of: bytes)
            offset += Int(length)
        }
    }

    private mutating func take(kind: UInt8, content: Range<Int>, of bytes: Span<UInt8>) {
        switch (kind, content.count) {
        case (2, 2): maximumSegmentSize = bytes.big16(at: content.lowerBound)
        case (3, 1): windowScale = bytes.byte(at: content.lowerBound)
        case (4, 0): isSACKPermitted = true
        case (5, let count) where count % 8 == 0:
            for start in stride(from: content.lowerBound, to: content.upperBound, by: 8) {
                guard let left = bytes.big32(at: start), let right = bytes.big32(at: start + 4) else { return }
                sack.append(SACKBlock(start: SequenceNumber(left), end: SequenceNumber(right)))
            }
        case (8, 8):
            guard let value = bytes.big32(at: content.lowerBound), let echo = bytes.big32(at: content.lowerBound + 4)
            else { return }
            timestamp = TCPTimestamp(value: value, echo: echo)
        case (34, let count): fastOpenCookieLength = count
        case (2, _), (3, _), (4, _), (5, _), (8, _): isMalformed = true
        default: break
        }
    }
}

package struct TCPTimestamp: Sendable, Hashable {
    package var value: UInt32
    package var echo: UInt32

    package init(value: UInt32, echo: UInt32) {
        self.value = value
        self.echo = echo
    }
}

/// A range of received bytes that a SACK option reports, from `start` up to, but not including, `end`.
package struct SACKBlock: Sendable, Hashable {
    package var start: SequenceNumber
    package var end: SequenceNumber

    package init(start: SequenceNumber, end: SequenceNumber) {
        self.start = start
        self.end = end
    }
}

/// The SACK blocks of a header, which has room for at most four blocks. The blocks are not stored in an array, because
/// an array would cost an allocation for each packet.
package struct SACKBlocks: Sendable, Hashable {
    package private(set) var first: SACKBlock?
    package private(set) var second: SACKBlock?
    package private(set) var third: SACKBlock?
    package private(set) var fourth: SACKBlock?

    package init() {}

    package var isEmpty: Bool { first == nil }

    package var blocks: [SACKBlock] { [first, second, third, fourth].compactMap(\.self) }

    /// Appends a block. A fifth block is ignored.
    package mutating func append(_ block: SACKBlock) {
        if first == nil {
            first = block
        } else if second == nil {
            second = block
        } else if third == nil {
            third = block
        } else if fourth == nil {
            fourth = block
        }
    }
}
