/// Builds a pcapng file (draft-ietf-opsawg-pcapng) incrementally: each call returns the bytes to append to the file.
///
/// The file is valid after each call, so it can be read even if the program is killed before it ends the file. Integers
/// are little-endian, and times are in nanoseconds.
package struct PcapNGWriter: Sendable {
    /// The description of an interface in the file.
    package struct Interface: Sendable, Hashable {
        package var name: String
        package var linkType: LinkType
        /// The snap length; 0 if it is unlimited.
        package var snapLength: UInt32
        /// The end of a link at which the interface's packets are captured.
        package var linkEnd: CaptureLinkEnd?

        package init(name: String, linkType: LinkType, snapLength: UInt32, linkEnd: CaptureLinkEnd? = nil) {
            self.name = name
            self.linkType = linkType
            self.snapLength = snapLength
            self.linkEnd = linkEnd
        }
    }

    /// The counters of the capture (`pcap_stats`).
    package struct Statistics: Sendable, Hashable {
        /// The start of the capture, in nanoseconds since 1970.
        package var start: UInt64
        package var end: UInt64
        package var received: UInt64
        package var dropped: UInt64

        package init(start: UInt64, end: UInt64, received: UInt64, dropped: UInt64) {
            self.start = start
            self.end = end
            self.received = received
            self.dropped = dropped
        }
    }

    /// The interfaces, indexed by their numbers.
    package let interfaces: [Interface]

    package init(interface: Interface) {
        self.init(interfaces: [interface])
    }

    package init(interfaces: [Interface]) {
        self.interfaces = interfaces
    }

    /// Returns the first bytes of the file: the section header and the descriptions of the interfaces. Example values
    /// are `tcpprobe 0.1.0` for `application` and `Linux 6.18` for `system`. `comments` apply to the whole file.
    package func header(application: String, system: String, comments: [String] = []) -> [UInt8] {
        var section = Block(type: 0x0a0d_0d0a)
        section.append(UInt32(0x1a2b_3c4d))
        section.append(UInt16(1))
        section.append(UInt16(0))
        section.append(UInt64.max)  // the section's length is unknown
        for comment in comments { section.option(1, text: comment) }
        section.option(3, text: system)
        section.option(4, text: application)
        section.endOptions()
        return interfaces.reduce(section.finished()) { $0 + description(of: $1) }
    }

    private func description(of interface: Interface) -> [UInt8] {
        var description = Block(type: 1)
        description.append(UInt16(truncatingIfNeeded: interface.linkType.rawValue))
        description.append(UInt16(0))
        description.append(interface.snapLength)
        description.option(2, text: interface.name)
        if let end = interface.linkEnd { description.option(3, text: end.description) }
        description.option(9, value: [9])  // if_tsresol: 10^-9 s
        description.endOptions()
        return description.finished()
    }

    /// Returns an enhanced packet block. The caller ensures that comments are UTF-8 without control characters. A
    /// comment of more than 65,535 bytes is truncated at a character boundary.
    ///
    /// - Parameters:
    ///   - interface: the number of the interface.
    ///   - direction: whether the interface, which is an end of a link, sent or received the packet.
    package func packet(
        _ packet: CapturedPacket, comments: [String] = [], on interface: Int = 0, direction: PacketDirection? = nil
    ) -> [UInt8] {
        var block = Block(type: 6, capacity: packet.bytes.count + 64)
        block.append(UInt32(truncatingIfNeeded: interface))
        block.append(UInt32(truncatingIfNeeded: packet.time >> 32))
        block.append(UInt32(truncatingIfNeeded: packet.time))
        block.append(UInt32(truncatingIfNeeded: packet.bytes.count))
        block.append(UInt32(clamping: max(packet.originalLength, packet.bytes.count)))
        block.append(padded: packet.bytes)
        for comment in comments { block.option(1, text: comment) }
        if let direction { block.option(2, value: [direction.rawValue, 0, 0, 0]) }
        if !comments.isEmpty || direction != nil { block.endOptions() }
        return block.finished()
    }

    /// Returns a decryption secrets block that contains a TLS key log: lines in the NSS key log format. Readers use the
    /// keys for the packets after the block.
    package func secrets(keyLog: [UInt8]) -> [UInt8] {
        var block = Block(type: 10, capacity: keyLog.count + 32)
        block.append(PcapNGDecoder.keyLogType)
        block.append(UInt32(clamping: keyLog.count))
        block.append(padded: keyLog)
        return block.finished()
    }

    /// Returns an interface statistics block, which must be the last block of the file.
    package func statistics(_ statistics: Statistics) -> [UInt8] {
        var block = Block(type: 5)
        block.append(UInt32(0))
        block.append(UInt32(truncatingIfNeeded: statistics.end >> 32))
        block.append(UInt32(truncatingIfNeeded: statistics.end))
        block.option(2, time: statistics.start)
        block.option(3, time: statistics.end)
        block.option(4, count: statistics.received)
        block.option(5, count: statistics.dropped)
        block.endOptions()
        return block.finished()
    }
}

extension PcapNGWriter {
    /// A block under construction. It consists of its type, its length, its body and its length again.
    private struct Block {
        private var bytes: [UInt8] = []

        init(type: UInt32, capacity: Int = 128) {
            bytes.reserveCapacity(capacity)
            append(type)
            append(UInt32(0))
        }

        mutating func append(_ value: some FixedWidthInteger) {
            var rest = value
            for _ in 0..<value.bitWidth / 8 {
                bytes.append(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
            }
        }

        mutating func append(padded content: some Collection<UInt8>) {
            bytes.append(contentsOf: content)
            while bytes.count % 4 != 0 { bytes.append(0) }
        }

        mutating func option(_ code: UInt16, value: some Collection<UInt8>) {
            append(code)
            append(UInt16(clamping: value.count))
            append(padded: value.prefix(Int(UInt16.max)))
        }

        mutating func option(_ code: UInt16, text: String) {
            var end = text.utf8.startIndex
            if text.utf8.count <= Int(UInt16.max) {
                end = text.utf8.endIndex
            } else {
                var length = 0
                for scalar in text.unicodeScalars {
                    length += UTF8.width(scalar)
                    guard length <= Int(UInt16.max) else { break }
                    end = text.unicodeScalars.index(after: end)
                }
            }
            option(code, value: text.utf8[..<end])
        }

        // A time in an option consists of two 32-bit words, the high word first, as in a packet block.
        mutating func option(_ code: UInt16, time: UInt64) {
            append(code)
            append(UInt16(8))
            append(UInt32(truncatingIfNeeded: time >> 32))
            append(UInt32(truncatingIfNeeded: time))
        }

        mutating func option(_ code: UInt16, count: UInt64) {
            append(code)
            append(UInt16(8))
            append(count)
        }

        mutating func endOptions() {
            append(UInt32(0))
        }

        consuming func finished() -> [UInt8] {
            append(UInt32(0))
            var length = UInt32(truncatingIfNeeded: bytes.count)
            for index in 0..<4 {
                let byte = UInt8(truncatingIfNeeded: length)
                bytes[4 + index] = byte
                bytes[bytes.count - 4 + index] = byte
                length >>= 8
            }
            return bytes
        }
    }
}
