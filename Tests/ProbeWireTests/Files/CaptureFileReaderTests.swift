import ProbeWire
import Testing

struct CaptureFileReaderTests {
    /// A buffer to which integers are appended in either byte order.
    private struct Bytes {
        var isLittleEndian: Bool
        var bytes: [UInt8] = []

        mutating func append(_ value: UInt32) {
            let big = PacketBuilder.big(value)
            bytes += isLittleEndian ? big.reversed() : big
        }

        mutating func append(_ value: UInt16) {
            let big = PacketBuilder.big(value)
            bytes += isLittleEndian ? big.reversed() : big
        }

        mutating func block(_ type: UInt32, _ body: Bytes) {
            append(type)
            append(UInt32(body.bytes.count + 12))
            bytes += body.bytes
            append(UInt32(body.bytes.count + 12))
        }

        func body(_ build: (inout Bytes) -> Void) -> Bytes {
            var body = Bytes(isLittleEndian: isLittleEndian)
            build(&body)
            while body.bytes.count % 4 != 0 { body.bytes.append(0) }
            return body
        }
    }

    private let frame = PacketBuilder.ethernet(PacketBuilder(payload: bytes("hello")).ipv4())

    private func pcap(
        magic: UInt32, isLittleEndian: Bool, extraFileHeader: Int = 0, extraRecordHeader: Int = 0,
        snapLength: UInt32 = 0,
        link: UInt32 = 1, minor: UInt16 = 4, swapLengths: Bool = false
    ) -> [UInt8] {
        var file = Bytes(isLittleEndian: isLittleEndian)
        file.append(magic)
        file.append(UInt16(2))
        file.append(minor)
        for word in [0, 0, snapLength, link] { file.append(word) }
        file.bytes += Array(repeating: 0, count: extraFileHeader)
        for number in 0..<2 {
            file.append(UInt32(1_700_000_000 + number))
            file.append(UInt32(123_456))
            let lengths = [UInt32(frame.count), UInt32(frame.count + 10)]
            for length in swapLengths ? lengths.reversed() : lengths { file.append(length) }
            file.bytes += Array(repeating: 0, count: extraRecordHeader) + frame
        }
        return file.bytes
    }

    @Test(arguments: [true, false])
    func everyVariantOfPcapIsRead(isLittleEndian: Bool) {
        let files: [([UInt8], UInt64)] = [
            (pcap(magic: 0xa1b2_c3d4, isLittleEndian: isLittleEndian), 123_456_000),
            (pcap(magic: 0xa1b2_3c4d, isLittleEndian: isLittleEndian), 123_456),
            (pcap(magic: 0xa1b2_cd34, isLittleEndian: isLittleEndian, extraRecordHeader: 8), 123_456_000),
            (pcap(magic: 0x1c00_01ac, isLittleEndian: isLittleEndian, extraFileHeader: 4), 123_456),
            (pcap(magic: 0xa1b2_c3d4, isLittleEndian: isLittleEndian, minor: 2, swapLengths: true), 123_456_000),
            (pcap(magic: 0xa1b2_c3d4, isLittleEndian: isLittleEndian, minor: 3, swapLengths: true), 123_456_000),
            (pcap(magic: 0xa1b2_c3d4, isLittleEndian: isLittleEndian, link: 0x2400_0001), 123_456_000),
        ]
        for (content, fraction) in files {
            let file = ReadFile(content, chunk: 17)
            #expect(file.error == nil && file.packets == [frame, frame])
            #expect(file.records.map(\.time) == [1_700_000_000, 1_700_000_001].map { $0 * 1_000_000_000 + fraction })
            #expect(file.reader.format == .pcap && file.records.allSatisfy { $0.linkType == .ethernet })
            #expect(file.analysis.table.conversations.first?.fromClient.stream.bytes == bytes("hello"))
        }
    }

    @Test func originalLengthExcludesTheFCS() {
        let plain = ReadFile(pcap(magic: 0xa1b2_c3d4, isLittleEndian: true))
        #expect(plain.records.map(\.originalLength) == [frame.count + 10, frame.count + 10])
        // The four bytes of the frame check sequence are not part of the packet.
        let checked = ReadFile(pcap(magic: 0xa1b2_c3d4, isLittleEndian: true, link: 0x2400_0001))
        #expect(checked.records.first?.originalLength == frame.count + 6)
    }

    /// For every prefix of a file, the result contains the complete records and the offset of the first incomplete
    /// record.
    @Test func truncatedFileYieldsCompleteRecords() {
        let file = pcap(magic: 0xa1b2_c3d4, isLittleEndian: true)
        let second = 24 + 16 + frame.count
        for end in 0..<file.count {
            let read = ReadFile(Array(file.prefix(end)))
            let isWhole = end == 24 || end == second
            #expect((read.error == nil) == isWhole)
            #expect(read.packets.count == (end >= second ? 1 : 0))
            if !isWhole { #expect(read.error?.offset == UInt64(end < 24 ? 0 : end < second ? 24 : second)) }
        }
    }

    @Test func otherFilesAreRefused() {
        #expect(ReadFile(bytes("#!/bin/sh\n")).error?.reason == .notACapture(magic: 0x2321_2f62))
        var old = pcap(magic: 0xa1b2_c3d4, isLittleEndian: true)
        old[4] = 1
        #expect(ReadFile(old).error?.reason == .unsupportedVersion(major: 1, minor: 4))
        var long = pcap(magic: 0xa1b2_c3d4, isLittleEndian: true)
        long[24 + 11] = 0x10
        let read = ReadFile(long)
        #expect(read.error?.offset == 24 && read.error?.description.hasPrefix("at byte 24: a record has ") == true)
    }

    private func options(_ list: [(UInt16, [UInt8])], into body: inout Bytes) {
        for (code, value) in list {
            body.append(code)
            body.append(UInt16(value.count))
            body.bytes += value + Array(repeating: 0, count: (4 - value.count % 4) % 4)
        }
        body.append(UInt32(0))
    }

    private func section(_ isLittleEndian: Bool) -> [UInt8] {
        var file = Bytes(isLittleEndian: isLittleEndian)
        let template = file
        file.block(
            0x0a0d_0d0a,
            template.body {
                $0.append(UInt32(0x1a2b_3c4d))
                $0.append(UInt16(1))
                $0.append(UInt16(0))
                $0.append(UInt32.max)
                $0.append(UInt32.max)
                options([(1, Array("a file".utf8))], into: &$0)
            })
        func interface(_ link: UInt16, _ list: [(UInt16, [UInt8])], snap: UInt32 = 0) -> Bytes {
            template.body {
                $0.append(link)
                $0.append(UInt16(0))
                $0.append(snap)
                options(list, into: &$0)
            }
        }
        file.block(1, interface(1, [(2, Array("eth0".utf8)), (9, [9])], snap: UInt32(frame.count)))
        let hour: [UInt8] = isLittleEndian ? [0x10, 0x0e, 0, 0, 0, 0, 0, 0] : [0, 0, 0, 0, 0, 0, 0x0e, 0x10]
        file.block(1, interface(101, [(9, [0x8a]), (14, hour)]))
        file.block(0x0bad, template.body { $0.append(UInt32(7)) })
        file.block(4, template.body { $0.append(UInt32(0)) })
        file.block(
            6,
            template.body {
                for word in [0, 0x17, 0x5, UInt32(frame.count), UInt32(frame.count + 4)] { $0.append(word) }
                $0.bytes += frame + Array(repeating: 0, count: (4 - frame.count % 4) % 4)
                options([(1, Array("first".utf8)), (2, [0, 0, 0, 1]), (1, Array("second".utf8))], into: &$0)
            })
        let ip = Array(frame.dropFirst(14))
        file.block(
            2,
            template.body {
                $0.append(UInt16(1))
                $0.append(UInt16(3))
                for word in [0, 1_536, UInt32(ip.count), UInt32(ip.count)] { $0.append(word) }
                $0.bytes += ip
            })
        file.block(
            3,
            template.body {
                $0.append(UInt32(frame.count + 20))
                $0.bytes += frame
            })
        file.block(
            5,
            template.body {
                for word in [0, 0, 0] as [UInt32] { $0.append(word) }
                options([(5, isLittleEndian ? [9, 0, 0, 0, 0, 0, 0, 0] : [0, 0, 0, 0, 0, 0, 0, 9])], into: &$0)
            })
        return file.bytes
    }

    @Test(arguments: [[true], [false], [true, false, true]])
    func sectionsOfBothByteOrdersAreRead(orders: [Bool]) {
        let file = ReadFile(orders.flatMap { section($0) }, chunk: 29)
        #expect(file.error == nil && file.reader.format == .pcapng)
        #expect(file.reader.comments == Array(repeating: "a file", count: orders.count))
        #expect(file.reader.interfaces.count == 2 * orders.count && file.reader.interfaces.first?.dropped == 9)
        #expect(file.reader.interfaces.first?.name == "eth0")
        let ip = Array(frame.dropFirst(14))
        #expect(file.packets == Array(repeating: [frame, ip, frame], count: orders.count).flatMap(\.self))
        #expect(file.records[0].time == 0x17_0000_0005 && file.records[0].comments == ["first", "second"])
        #expect(file.records[0].originalLength == frame.count + 4)
        // The time is 1,536 units of 2^-10 s, plus an hour.
        #expect(file.records[1].time == 3_601_500_000_000 && file.records[1].linkType == .raw)
        #expect(!file.records[2].hasTime && file.records[2].originalLength == frame.count + 20)
        #expect(file.records.map(\.index) == Array(0..<3 * orders.count))
        #expect(file.analysis.tcpPacketCount == 3 * orders.count)
    }

    @Test func damagedBlockIsAnErrorWithItsOffset() {
        let good = section(true)
        let header = 12 + 16 + 4 + 8 + 4
        func altered(_ offset: Int, _ value: UInt8) -> CaptureFileError? {
            var bytes = good
            bytes[offset] = value
            return ReadFile(bytes).error
        }
        #expect(altered(4, 5)?.reason == .badBlockLength(5))
        #expect(altered(header - 4, 1)?.offset == 0)
        #expect(altered(8, 0)?.reason == .notASection)
        #expect(altered(12, 2)?.reason == .unsupportedVersion(major: 2, minor: 0))
        #expect(altered(26, 200)?.reason == .lengthBeyondBlock(200))
        #expect(altered(7, 0x7f)?.offset == 0)
        var bytes = good
        bytes.removeLast(3)
        #expect(ReadFile(bytes).packets.count == 3 && ReadFile(bytes).error != nil)
    }

    @Test func packetOfAnUnknownInterfaceIsAnError() throws {
        let writer = PcapNGWriter(interface: PcapNGWriter.Interface(name: "lo", linkType: .ethernet, snapLength: 0))
        let header = writer.header(application: "a", system: "b")
        let packet = writer.packet(CapturedPacket(time: 1, originalLength: 1, bytes: [1]))
        var other = packet
        other[8] = 4
        #expect(
            ReadFile(header + other).error
                == CaptureFileError(offset: UInt64(header.count), reason: .unknownInterface(4)))
        var long = packet
        long[20] = 200
        #expect(ReadFile(header + long).error?.reason == .lengthBeyondBlock(200))
    }

    @Test(arguments: [true, false])
    func onlyKeyLogSecretsAreKept(isLittleEndian: Bool) {
        func secrets(_ type: UInt32, _ text: String, length: Int? = nil) -> [UInt8] {
            var file = Bytes(isLittleEndian: isLittleEndian)
            let template = file
            file.block(
                10,
                template.body {
                    $0.append(type)
                    $0.append(UInt32(length ?? text.utf8.count))
                    $0.bytes += text.utf8
                    while $0.bytes.count % 4 != 0 { $0.bytes.append(0) }
                })
            return file.bytes
        }
        let logs = secrets(0x544c_534b, "A 00 01") + secrets(0x5747_4b4c, "other") + secrets(0x544c_534b, "B 02 03\n")
        let file = ReadFile(section(isLittleEndian) + logs, chunk: 7)
        #expect(file.error == nil && file.packets.count == 3)
        #expect(file.reader.keyLog == Array("A 00 01\nB 02 03\n".utf8))
        let damaged = ReadFile(section(isLittleEndian) + secrets(0x544c_534b, "A 00 01", length: 9))
        #expect(damaged.error?.reason == .lengthBeyondBlock(9))
    }

    /// The reader returns the packets that the writer has written.
    @Test(arguments: [1, 5, 64, 100_000])
    func writtenFilesAreReadBack(chunk: Int) {
        let writer = PcapNGWriter(
            interface: PcapNGWriter.Interface(name: "lo", linkType: .ethernet, snapLength: 262_144))
        var random = SeededRandom(seed: UInt64(chunk))
        let packets = (0..<50).map { number in
            CapturedPacket(
                time: 1_700_000_000_000_000_000 + UInt64(number), originalLength: 100 + number,
                bytes: (0..<number).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        var file = writer.header(application: "tcpprobe", system: "Linux", comments: ["case"])
        file += writer.secrets(keyLog: bytes("A 00 01\n"))
        for packet in packets {
            file += writer.packet(packet, comments: packet.bytes.count % 3 == 0 ? ["step", "x"] : [])
        }
        file += writer.statistics(PcapNGWriter.Statistics(start: 1, end: 2, received: 50, dropped: 3))
        let read = ReadFile(file, chunk: chunk)
        #expect(read.error == nil && read.packets == packets.map(\.bytes) && read.reader.comments == ["case"])
        #expect(read.reader.keyLog == bytes("A 00 01\n"))
        #expect(read.records.map(\.time) == packets.map(\.time))
        #expect(read.records.map(\.originalLength) == packets.map(\.originalLength))
        #expect(read.records.map(\.comments) == packets.map { $0.bytes.count % 3 == 0 ? ["step", "x"] : [] })
        #expect(read.reader.interfaces.first?.received == 50 && read.reader.interfaces.first?.dropped == 3)
    }

    @Test(
        arguments: [
            (6, 1_500_000, 1_500_000_000), (9, 7, 7), (0, 3, 3_000_000_000), (12, 5_000, 5), (0x80, 2, 2_000_000_000),
            (0x8a, 1_536, 1_500_000_000), (0xbf, 1 << 62, 500_000_000), (0xff, .max, 0), (0x7f, .max, 0),
            (3, .max, .max),
            (0xc0, 1 << 63, 500_000_000),
        ] as [(UInt8, UInt64, UInt64)])
    func timeResolutionsAreRead(option: UInt8, stamp: UInt64, nanoseconds: UInt64) {
        let writer = PcapNGWriter(interface: PcapNGWriter.Interface(name: "lo", linkType: .ethernet, snapLength: 0))
        var file = writer.header(application: "a", system: "b")
        let position = file.count - 12
        #expect(file[position] == 9)
        file[position] = option
        file += writer.packet(CapturedPacket(time: stamp, originalLength: 0, bytes: []))
        #expect(ReadFile(file).records.first?.time == nanoseconds)
    }
}
