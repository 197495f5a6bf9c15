import CShims
import Glibc

/// A socket that sends the markers and fillers of fences to itself over loopback.
///
/// The socket never receives anything, because a filter drops each datagram after it has been captured.
final class FenceMarkers: Sendable {
    /// The length of a marker's payload, in bytes.
    static let markerLength = 16
    /// The length of a filler's payload, in bytes: the maximum for a UDP datagram (RFC 768). With its headers, a filler
    /// occupies 65,549 bytes in the ring.
    static let fillerLength = 65_507
    /// The number of fillers that suffices to close any block. libpcap's blocks have 262,144 bytes, so only three
    /// fillers fit into an empty block.
    static let fillersPerBlock = 4

    /// The UDP port on 127.0.0.1 that is both the source and the destination of the markers.
    let port: UInt16
    private let descriptor: Int32
    /// A random number that distinguishes this capture's markers from other datagrams to the same port.
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
        // The send buffer must have room for a filler and the kernel's bookkeeping. The kernel doubles the requested
        // size.
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

    /// Sends the marker of one fence. The marker is in the ring when the function returns.
    func sendMarker(_ sequence: UInt64) throws(CaptureError) {
        try check(withUnsafeBytes(of: (token.bigEndian, sequence.bigEndian), send))
    }

    /// Sends enough fillers to fill a block of the ring, so that the kernel releases the block that is currently open.
    func sendFillers() throws(CaptureError) {
        for _ in 0..<Self.fillersPerBlock { try check(filler.withUnsafeBytes(send)) }
    }

    private func check(_ code: Int32) throws(CaptureError) {
        if code != 0 { throw .system(call: "sending a fence marker", code: code) }
    }

    /// Sends a datagram. Returns 0, or the `errno` of a failure that is not temporary.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        while Glibc.send(descriptor, bytes.baseAddress, bytes.count, 0) < 0 {
            switch errno {
            case EINTR: continue
            // The socket's buffer is temporarily full. The marker is sent again until it is captured.
            case EAGAIN, ENOBUFS, ENOMEM: return 0
            default: return errno
            }
        }
        return 0
    }

    /// Returns the sequence number in a marker's payload; `nil` if the datagram is not one of this capture's markers.
    func sequence(ofPayload bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard bytes.count == Self.markerLength,
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)) == token
        else { return nil }
        return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}
