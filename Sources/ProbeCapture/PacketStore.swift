import ProbeWire
import Synchronization

/// The packets of one subscription. The capture's thread adds packets, and the subscription's owner reads them.
final class PacketStore: Sendable {
    private struct Contents {
        var packets: [ConnectionPacket] = []
        var bytes = 0
        var overflowed = false
        var released = false
    }

    /// The memory, in bytes, that a packet needs in addition to its own bytes.
    private static let overhead = 88

    private let contents = Mutex(Contents())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func append(_ packet: ConnectionPacket) {
        contents.withLock { contents in
            guard !contents.released else { return }
            let size = packet.packet.bytes.count + Self.overhead
            guard size <= limit - contents.bytes else {
                contents.overflowed = true
                return
            }
            contents.bytes += size
            contents.packets.append(packet)
        }
    }

    func packets(from index: Int) -> [ConnectionPacket] {
        contents.withLock { contents in
            guard index > 0 else { return contents.packets }
            return index < contents.packets.count ? Array(contents.packets[index...]) : []
        }
    }

    func take() -> [ConnectionPacket] {
        contents.withLock { contents in
            defer {
                contents.packets = []
                contents.bytes = 0
            }
            return contents.packets
        }
    }

    var count: Int { contents.withLock { $0.packets.count } }
    var overflowed: Bool { contents.withLock { $0.overflowed } }

    func release() {
        contents.withLock { contents in
            contents.packets = []
            contents.released = true
        }
    }
}
