import Glibc
import ProbeWire
import Testing

struct PcapNGWriterTests {
    private let writer = PcapNGWriter(
        interface: PcapNGWriter.Interface(name: "lo", linkType: .ethernet, snapLength: 262_144))

    /// A pcapng block, parsed independently of the writer.
    private struct Block {
        var type: UInt32
        var body: [UInt8]
    }

    private func blocks(_ file: [UInt8]) throws -> [Block] {
        func word(_ offset: Int) -> UInt32 {
            file[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        var blocks: [Block] = []
        var offset = 0
        while offset < file.count {
            try #require(offset + 12 <= file.count)
            let length = Int(word(offset + 4))
            try #require(length >= 12 && length % 4 == 0 && offset + length <= file.count)
            #expect(word(offset + length - 4) == UInt32(length))
            blocks.append(Block(type: word(offset), body: Array(file[offset + 8..<offset + length - 4])))
            offset += length
        }
        return blocks
    }

    private func options(_ body: [UInt8], from start: Int) throws -> [(UInt16, [UInt8])] {
        var options: [(UInt16, [UInt8])] = []
        var offset = start
        while offset < body.count {
            try #require(offset + 4 <= body.count)
            let code = UInt16(body[offset]) | UInt16(body[offset + 1]) << 8
            let length = Int(body[offset + 2]) | Int(body[offset + 3]) << 8
            if code == 0 {
                #expect(length == 0 && offset + 4 == body.count)
                return options
            }
            options.append((code, Array(body[offset + 4..<offset + 4 + length])))
            offset += 4 + (length + 3) / 4 * 4
        }
        Issue.record("no end of options")
        return options
    }

    @Test func headerHasTheSectionAndTheInterface() throws {
        let parts = try blocks(
            writer.header(application: "tcpprobe 0.1.0", system: "Linux 6.18", comments: ["crlf.scn"]))
        #expect(parts.map(\.type) == [0x0a0d_0d0a, 1])
        #expect(parts[0].body.prefix(8) == [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0])
        let section = try options(parts[0].body, from: 16)
        #expect(
            section.map(\.0) == [1, 3, 4]
                && section.map(\.1) == ["crlf.scn", "Linux 6.18", "tcpprobe 0.1.0"].map(bytes))
        #expect(parts[1].body.prefix(8) == [1, 0, 0, 0, 0, 0, 4, 0])
        let interface = try options(parts[1].body, from: 8)
        #expect(interface.map(\.0) == [2, 9] && interface.map(\.1) == [bytes("lo"), [9]])
    }

    @Test(arguments: 0...8)
    func packetIsPadded(count: Int) throws {
        let data = (0..<count).map { UInt8($0 + 1) }
        let packet = CapturedPacket(time: 0x0102_0304_0506_0708, originalLength: count + 10, bytes: data)
        let plain = try #require(try blocks(writer.packet(packet)).first)
        #expect(plain.type == 6 && plain.body.count == 20 + (count + 3) / 4 * 4)
        #expect(plain.body[4..<12].elementsEqual([4, 3, 2, 1, 8, 7, 6, 5]))
        #expect(plain.body[12] == UInt8(count) && plain.body[16] == UInt8(count + 10))
        #expect(plain.body[20..<20 + count].elementsEqual(data))
        let commented = try #require(try blocks(writer.packet(packet, comments: ["crlf.scn:11 S send", "ü"])).first)
        let read = try options(commented.body, from: 20 + (count + 3) / 4 * 4)
        #expect(read.map(\.0) == [1, 1] && read.map(\.1) == [bytes("crlf.scn:11 S send"), bytes("ü")])
    }

    @Test func longCommentIsTruncatedAtACharacter() throws {
        let packet = CapturedPacket(time: 0, originalLength: 0, bytes: [])
        let block = try #require(
            try blocks(writer.packet(packet, comments: [String(repeating: "ü", count: 40_000)])).first)
        let comment = try #require(try options(block.body, from: 20).first?.1)
        #expect(comment.count == 65_534 && String(validating: comment, as: UTF8.self) != nil)
    }

    @Test func statisticsAreWrittenAsABlock() throws {
        let block = try #require(
            try blocks(
                writer.statistics(PcapNGWriter.Statistics(start: 1 << 32 | 7, end: 9, received: 300, dropped: 2))
            ).first)
        #expect(block.type == 5)
        let read = try options(block.body, from: 12)
        #expect(read.map(\.0) == [2, 3, 4, 5])
        #expect(
            read[0].1 == [1, 0, 0, 0, 7, 0, 0, 0] && read[2].1 == [44, 1, 0, 0, 0, 0, 0, 0] && read[3].1.first == 2)
    }

    @Test(arguments: ["", "CLIENT_RANDOM 00 01\n", "A 00 01\nB 02 03\n"])
    func secretsAreWrittenAsABlock(keyLog: String) throws {
        let block = try #require(try blocks(writer.secrets(keyLog: bytes(keyLog))).first)
        #expect(block.type == 10 && block.body.prefix(4).elementsEqual([0x4b, 0x53, 0x4c, 0x54]))
        #expect(block.body[4..<8].elementsEqual([UInt8(keyLog.utf8.count), 0, 0, 0]))
        #expect(block.body[8...].prefix(keyLog.utf8.count).elementsEqual(keyLog.utf8))
        #expect(block.body.dropFirst(8 + keyLog.utf8.count).allSatisfy { $0 == 0 })
    }

    private static let tshark = (["/usr/bin/tshark", "/usr/local/bin/tshark"] as [String]).first {
        access($0, X_OK) == 0
    }

    /// Runs `command` in a shell and returns what it wrote to standard output and standard error.
    private func output(of command: String) throws -> String {
        let pipe = try #require(popen(command + " 2>&1", "r"))
        defer { pclose(pipe) }
        var text: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { text.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: text, as: UTF8.self)
    }

    @Test(.enabled(if: tshark != nil, "tshark is not installed"))
    func tsharkReadsIt() throws {
        let frame = PacketBuilder.ethernet(PacketBuilder(payload: bytes("220 rea")).ipv4())
        var file = writer.header(application: "tcpprobe 0.1.0", system: "Linux", comments: ["a case"])
        for number in 0..<3 {
            file += writer.packet(
                CapturedPacket(
                    time: 1_700_000_000_123_456_789 + UInt64(number), originalLength: frame.count, bytes: frame),
                comments: number == 1 ? [#"crlf.scn:11 S send "220 rea""#] : [])
        }
        let open = file
        file += writer.statistics(PcapNGWriter.Statistics(start: 1, end: 2, received: 3, dropped: 0))
        var path = Array("/tmp/tcpprobe-writer-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        try #require(descriptor >= 0)
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(name) }
        for content in [open, file] {
            #expect(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, content, content.count, 0) == content.count)
            let fields =
                "-T fields -e frame.number -e frame.time_epoch -e frame.comment -e tcp.payload -e frame.interface_name"
            let text = try output(of: "\(Self.tshark ?? "") -r \(name) \(fields) | grep -v 'Running as user'")
            #expect(
                text == """
                    1\t1700000000.123456789\t\t32323020726561\tlo
                    2\t1700000000.123456790\tcrlf.scn:11 S send "220 rea"\t32323020726561\tlo
                    3\t1700000000.123456791\t\t32323020726561\tlo

                    """)
        }
        close(descriptor)
    }
}
