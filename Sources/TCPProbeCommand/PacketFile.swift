import ProbeBase
import ArgumentParser
import Glibc
import ProbeEvents
import ProbeSystem
import ProbeWire

/// A pcapng file to which packets are appended. The file is valid after each call.
///
/// An existing file at the path is replaced as soon as the header of the new file has been written. If the path is a
/// pipe, the packets are written to it directly.
final class PacketFile {
    private enum Output: ~Copyable {
        case direct(DirectOutput)
        case file(ReplacementFile)
    }

    private let path: String
    private let output: Output
    private let writer: PcapNGWriter
    private var isBroken = false

    /// Opens the file.
    ///
    /// - Throws: the exit code, after printing the reason.
    init(path: String, interface: String, linkType: LinkType) throws {
        self.path = Escaped.text(path)
        writer = PcapNGWriter(interface: .init(name: interface, linkType: linkType, snapLength: 262_144))
        let header = writer.header(application: "tcpprobe \(TCPProbe.version)", system: "Linux")
        var hasOpened = false
        do throws(SystemError) {
            if let direct = try DirectOutput.open(path) {
                hasOpened = true
                try direct.write(header)
                output = .direct(direct)
            } else {
                let place = try FilePlace(path)
                if place.status?.isFolder == true { throw SystemError("open", code: EISDIR) }
                var file = try ReplacementFile(place.name, in: place.folder, mode: 0o644)
                hasOpened = true
                try file.write(header)
                try file.place()
                output = .file(file)
            }
        } catch {
            if !hasOpened { throw Failure.invalidUsage("can't write \(self.path): \(error.reason)") }
            Console.standardError.write("error: can't continue writing \(self.path): \(error.reason)\n")
            throw ExitCode(3)
        }
    }

    /// Appends packets to the file.
    ///
    /// - Returns: the reason why the file could not be written; `nil` on success, and after the first failure.
    func append(_ packets: [CapturedPacket]) -> String? {
        var bytes: [UInt8] = []
        for packet in packets { bytes += writer.packet(packet) }
        return write(bytes)
    }

    func finish(_ statistics: PcapNGWriter.Statistics) -> String? { write(writer.statistics(statistics)) }

    private func write(_ bytes: [UInt8]) -> String? {
        if isBroken { return nil }
        do throws(SystemError) {
            switch output {
            case .direct(let direct): try direct.write(bytes)
            case .file(let file): try file.write(bytes)
            }
            return nil
        } catch {
            isBroken = true
            return "can't continue writing \(path): \(error.reason)"
        }
    }
}
