import ArgumentParser
import Glibc
import ProbeEvents
import ProbeWire

/// A pcapng file that grows with the packets, and is whole after each call.
final class PacketFile {
    private let path: String
    private let descriptor: Int32
    private let writer: PcapNGWriter
    private var isBroken = false

    /// - Throws: the exit code, after it has said why.
    init(path: String, interface: String, linkType: LinkType) throws {
        self.path = EscapedBytes.safeText(path)
        writer = PcapNGWriter(interface: .init(name: interface, linkType: linkType, snapLength: 262_144))
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Failure.wrongUse("\(self.path): it can't be written: \(String(cString: strerror(errno)))")
        }
        if let trouble = write(writer.header(application: "tcpprobe \(TCPProbe.version)", system: "Linux")) {
            Console.standardError.write("error: \(trouble)\n")
            throw ExitCode(3)
        }
    }

    deinit { close(descriptor) }

    /// - Returns: why it could not be written; said once.
    func append(_ packets: [CapturedPacket]) -> String? {
        var bytes: [UInt8] = []
        for packet in packets { bytes += writer.packet(packet) }
        return write(bytes)
    }

    func finish(_ statistics: PcapNGWriter.Statistics) -> String? { write(writer.statistics(statistics)) }

    private func write(_ bytes: [UInt8]) -> String? {
        if isBroken { return nil }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                raw.baseAddress.map { Glibc.write(descriptor, $0 + offset, bytes.count - offset) } ?? 0
            }
            if count > 0 {
                offset += count
            } else if errno != EINTR {
                isBroken = true
                return "\(path): it can't be written on: \(String(cString: strerror(errno)))"
            }
        }
        return nil
    }
}
