import CZlib
import CZstd
import Glibc
import ProbeInspect
import ProbeWire
import Testing

/// Tests with complete, truncated and damaged files of all formats.
@Suite struct ReadingTests {
    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1024)
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                return Array(output[..<(output.count - Int(stream.avail_out))])
            }
        }
    }

    private static func zstd(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let count = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
        return Array(output[..<count])
    }

    /// A capture that spans several chunks.
    private static let large: [UInt8] = {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        for number in 0..<400 {
            capture.send(&connection, .client, String(repeating: "line \(number)", count: 100) + "\r\n")
        }
        return capture.bytes
    }()

    private func summary(_ inspection: Inspection) -> [Int64] {
        let flows = inspection.analysis.table.conversations
        return [Int64(inspection.packetCount)] + flows.map(\.fromClient.stream.deliveredLength)
    }

    @Test(arguments: [16, 100, 4_096, 1 << 18])
    func compressedFilesReadLikePlainOnes(chunkSize: Int) throws {
        let plain = try inspect(Self.large, chunkSize: chunkSize)
        #expect(plain.problem == nil && plain.packetCount == 403)
        let half = Self.large.count / 2
        let forms = [
            Self.gzip(Self.large), Self.zstd(Self.large),
            // A file may consist of several members or frames, as written by pigz, bgzip and pzstd, and may end with
            // zeros.
            Self.gzip(Array(Self.large[..<half])) + Self.gzip(Array(Self.large[half...])) + [0, 0, 0],
            Self.zstd(Array(Self.large[..<half])) + Self.zstd(Array(Self.large[half...])),
        ]
        for form in forms {
            let inspection = try inspect(form, chunkSize: chunkSize)
            #expect(inspection.problem == nil)
            #expect(summary(inspection) == summary(plain))
        }
    }

    /// For every prefix of a compressed file, the result either contains the packets before the end and the offset of
    /// the end, or reports that nothing could be read.
    @Test func truncatedCompressedFileReportsItsEnd() throws {
        for (form, name) in [(Self.gzip(Self.large), "gzip"), (Self.zstd(Self.large), "zstd")] {
            for count in stride(from: 5, to: form.count, by: form.count / 23) {
                let inspection = try inspect(Array(form[..<count]))
                #expect(
                    inspection.problem == .source(.endsInside(format: name, offset: UInt64(count))), "\(name) \(count)")
            }
            var damaged = form
            for index in form.count / 2..<form.count / 2 + 64 { damaged[index] ^= 0x5a }
            let inspection = try inspect(damaged)
            let problem = try #require(inspection.problem)
            #expect(!problem.isInvalidUsage && problem.offset != nil)
            #expect(inspection.packetCount < 403)
        }
    }

    /// For every prefix of a file, the result contains all complete packets, and an error with the offset of the first
    /// incomplete packet.
    @Test func truncatedFileYieldsAllCompletePackets() throws {
        let whole = CaptureBuilder.greeting
        var before = 0
        for count in 1..<whole.count {
            let inspection = try inspect(Array(whole[..<count]))
            #expect(inspection.packetCount >= before)
            before = inspection.packetCount
            if let problem = inspection.problem { #expect((problem.offset ?? UInt64.max) <= UInt64(count)) }
        }
        #expect(before == 9)
    }

    @Test func otherFilesAreRefused() throws {
        for (bytes, text) in [
            ([], "the file is empty"),
            (
                [1, 2, 3, 4, 5, 6, 7, 8],
                "not a pcap or pcapng file, nor one compressed with gzip or zstd; if tshark can read the file, convert it with `editcap -F pcap in out.pcap`"
            ),
            (
                Array("root:x:0:0".utf8),
                "not a pcap or pcapng file but a text file; convert a hex dump with `text2pcap in.txt out.pcap`"
            ),
        ] as [([UInt8], String)] {
            let problem = try #require(try inspect(bytes).problem)
            #expect(problem.isInvalidUsage)
            #expect("\(problem)" == text)
        }
        #expect(throws: CaptureSourceError.notFound) { _ = try CaptureSource(path: "/no/such/file") }
        #expect(throws: CaptureSourceError.isFolder) { _ = try CaptureSource(path: "/tmp") }
        // A file that consists only of a magic number is a truncated capture, not a file of another format.
        let problem = try #require(try inspect([0xd4, 0xc3, 0xb2, 0xa1, 2, 0]).problem)
        #expect(!problem.isInvalidUsage && problem.offset == 0)
    }

    @Test func capturesAreReadFromPipes() throws {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        let bytes = CaptureBuilder.greeting
        try #require(write(ends[1], bytes, bytes.count) == bytes.count)
        close(ends[1])
        let inspection = Inspection.of(try CaptureSource(path: "/proc/self/fd/\(ends[0])"))
        close(ends[0])
        #expect(inspection.problem == nil && inspection.packetCount == 10)
    }

    /// Random bytes after a valid header and random changes never cause a trap, and never result in more packets than
    /// the file can contain.
    @Test func damagedFilesNeverTrap() throws {
        var state: UInt64 = 42
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<300 {
            var bytes = CaptureBuilder.troubled
            for _ in 0..<1 + random(8) { bytes[random(bytes.count)] = UInt8(random(256)) }
            let collected = Collected()
            let inspection = try inspect(
                bytes, limits: .deliveringParts, observer: LadderObserver(width: 100, output: collected.output))
            #expect(inspection.packetCount <= 9)
            #expect(collected.text.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x7f) })
        }
    }
}
