import CShims
import Glibc

/// The socket that sends the fence's packets over loopback to itself.
///
/// Nothing is ever received: a filter drops each datagram behind the point where the capture sees it.
final class FenceMarkers: Sendable {
    /// What a captured datagram of the fence's port is.
    static let markerLength = 16
    /// The largest UDP datagram (RFC 768): with its headers 65,549 bytes in the ring.
    static let fillerLength = 65_507
    /// libpcap's blocks are 262,144 bytes: three fillers fit into an empty one, so the fourth ends any block.
    static let fillersPerBlock = 4

    /// UDP port on 127.0.0.1 that the markers come from and go to.
    let port: UInt16
    private let descriptor: Int32
    /// Tells this capture's markers from whatever else is sent to the port.
    private let token: UInt64
    private let filler: [UInt8]

    init() throws(CaptureError) {
        let fd = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard fd >= 0 else { throw .system(call: "socket", code: errno) }
        do {
            port = try Self.connectToItself(fd)
        } catch {
            Glibc.close(fd)
            throw error
        }
        descriptor = fd
        token = UInt64.random(in: .min ... .max)
        filler = [UInt8](repeating: 0, count: Self.fillerLength)
    }

    deinit { Glibc.close(descriptor) }

    private static func connectToItself(_ fd: Int32) throws(CaptureError) -> UInt16 {
        // A filler and its bookkeeping must fit; the kernel doubles the figure.
        var room: Int32 = 262_144
        guard setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw .system(call: "SO_SNDBUF", code: errno)
        }
        guard probe_drop_all_input(fd) == 0 else { throw .system(call: "SO_ATTACH_FILTER", code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed: String? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                if bind(fd, generic, length) != 0 { return "bind" }
                if getsockname(fd, generic, &length) != 0 { return "getsockname" }
                return connect(fd, generic, length) == 0 ? nil : "connect"
            }
        }
        if let failed { throw .system(call: failed, code: errno) }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Sends the marker of one fence. Loopback puts it into the ring before this returns.
    func sendMarker(_ sequence: UInt64) throws(CaptureError) {
        try check(withUnsafeBytes(of: (token.bigEndian, sequence.bigEndian), send))
    }

    /// Sends as much as fills a block of the ring, and so makes the kernel give out the one that is open now.
    func sendFillers() throws(CaptureError) {
        for _ in 0..<Self.fillersPerBlock { try check(filler.withUnsafeBytes(send)) }
    }

    private func check(_ code: Int32) throws(CaptureError) {
        if code != 0 { throw .system(call: "send of a fence marker", code: code) }
    }

    /// Returns 0 or the `errno` of a failure that will not pass by itself.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        while Glibc.send(descriptor, bytes.baseAddress, bytes.count, 0) < 0 {
            switch errno {
            case EINTR: continue
            // No room for the moment: the fence is repeated until it is seen.
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: return errno
            }
        }
        return 0
    }

    /// The sequence number, if this is the payload of a marker of this capture.
    func sequence(ofPayload bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard bytes.count == Self.markerLength,
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)) == token
        else { return nil }
        return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}
