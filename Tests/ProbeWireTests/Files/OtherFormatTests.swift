import ProbeWire
import Testing

/// Tests that files of other formats are recognized by their first bytes.
struct OtherFormatTests {
    private func magic(_ bytes: [UInt8]) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    @Test(
        arguments: [
            ("snoop\0\0\0", "a snoop file", "editcap -F pcap in.snoop out.pcap"),
            ("GMBU", "a Network Monitor file", "editcap -F pcap"),
            ("RTSS", "a Network Monitor file", "editcap -F pcap"),
            ("iptrace 2.0", "an iptrace file", "editcap -F pcap"), ("TRSNIFF data", "a DOS Sniffer file", "editcap"),
            ("BZh9", "a file compressed with bzip2", "bzip2 -dc"),
            ("PK\u{3}\u{4}", "a file compressed with zip", "unzip -p"),
            ("0000  45 00", "a text file", "text2pcap"), ("{\n  ", "a text file", "text2pcap"),
        ])
    func formatIsNamedWithAConversionCommand(text: String, name: String, command: String) throws {
        let format = try #require(OtherFormat(magic: magic(Array(text.utf8))))
        #expect(format.name == name && format.command.contains(command))
    }

    @Test(arguments: [[0x7f, 0x45, 0x4c, 0x46], [0, 0, 0, 0], [0xff, 0xd8, 0xff, 0xe0]] as [[UInt8]])
    func unknownFormatsHaveNoName(bytes: [UInt8]) {
        #expect(OtherFormat(magic: magic(bytes)) == nil)
    }

    @Test func doubleCompressionIsNamed() throws {
        #expect(try #require(OtherFormat(magic: 0x1f8b_0800)).name == "a file compressed with gzip twice")
        #expect(try #require(OtherFormat(magic: 0xfd37_7a58)).command.contains("xz -dc"))
    }
}
