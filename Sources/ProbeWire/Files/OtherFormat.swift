/// A format other than pcap and pcapng, recognized by a file's first four bytes, and the command that converts or
/// unpacks such a file.
package struct OtherFormat: Sendable, Hashable {
    /// The name of the format with an article, such as `a snoop file`.
    package let name: String
    package let command: String

    package init?(magic: UInt32) {
        switch magic {
        case 0x736e_6f6f: self.init(capture: "a snoop", "snoop")
        case 0x474d_4255, 0x5254_5353: self.init(capture: "a Network Monitor", "cap")
        case 0x5843_5000: self.init(capture: "a NetXRay or Windows Sniffer", "cap")
        case 0x5452_534e: self.init(capture: "a DOS Sniffer", "enc")
        case 0x6970_7472: self.init(capture: "an iptrace", "iptrace")
        case 0x4f62_7365: self.init(capture: "an Observer", "bfr")
        case 0x5452_0064: self.init(capture: "a nettl", "trc0")
        case 0xaaaa_aaaa: self.init(capture: "a 5View", "5vw")
        case 0x6274_736e: self.init(capture: "a btsnoop", "log")
        case 0x425a_6831...0x425a_6839: self.init(compressed: "bzip2", "bzip2 -dc in.bz2")
        case 0xfd37_7a58: self.init(compressed: "xz", "xz -dc in.xz")
        case 0x0422_4d18: self.init(compressed: "lz4", "lz4 -dc in.lz4")
        case 0x504b_0304: self.init(compressed: "zip", "unzip -p in.zip")
        case 0x377a_bcaf: self.init(compressed: "7-Zip", "7z x -so in.7z")
        // A file that is compressed once is decompressed before this check, so these formats are recognized only in a
        // file that was compressed twice.
        case 0x1f8b_0800...0x1f8b_08ff: self.init(compressed: "gzip twice", "zcat in.gz | zcat")
        case 0x28b5_2ffd: self.init(compressed: "zstd twice", "zstdcat in.zst | zstdcat")
        default:
            guard Self.isText(magic) else { return nil }
            self.init(name: "a text file", command: "convert a hex dump with `text2pcap in.txt out.pcap`")
        }
    }

    private init(name: String, command: String) {
        self.name = name
        self.command = command
    }

    private init(capture name: String, _ suffix: String) {
        self.init(name: "\(name) file", command: "convert the file with `editcap -F pcap in.\(suffix) out.pcap`")
    }

    private init(compressed name: String, _ command: String) {
        self.init(
            name: "a file compressed with \(name)", command: "unpack the file with `\(command) | tcpprobe inspect -`")
    }

    private static func isText(_ magic: UInt32) -> Bool {
        [24, 16, 8, 0].allSatisfy { shift in
            switch UInt8(truncatingIfNeeded: magic >> UInt32(shift)) {
            case 0x20...0x7e, 0x09, 0x0a, 0x0d: true
            default: false
            }
        }
    }
}
