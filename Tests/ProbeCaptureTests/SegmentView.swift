import ProbeCapture
import ProbeWire

/// The fields of a captured TCP segment over IPv4 that tests compare.
struct SegmentView {
    var source: UInt16
    var destination: UInt16
    var isSYN: Bool
    var isFIN: Bool
    var payload: String

    init?(_ subscribed: ConnectionPacket) { self.init(subscribed.packet) }

    init?(_ packet: CapturedPacket) {
        let bytes = packet.bytes
        guard bytes.count >= 54, bytes[12] == 8, bytes[13] == 0, bytes[14] == 0x45, bytes[23] == 6 else { return nil }
        source = UInt16(bytes[34]) << 8 | UInt16(bytes[35])
        destination = UInt16(bytes[36]) << 8 | UInt16(bytes[37])
        isSYN = bytes[47] & 2 != 0
        isFIN = bytes[47] & 1 != 0
        payload = String(decoding: bytes.dropFirst(34 + Int(bytes[46] >> 4) * 4), as: UTF8.self)
    }
}
