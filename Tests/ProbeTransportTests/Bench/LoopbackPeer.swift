import CShims
import Glibc

/// The failure of a system call made by the test's peer.
struct PeerError: Error, CustomStringConvertible {
    var call: String
    var code: CInt
    var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// A blocking listening socket on loopback, with deadlines.
final class LoopbackListener {
    let descriptor: CInt
    let port: UInt16

    init(ipv6: Bool = false, backlog: CInt = 16, receiveBuffer: CInt? = nil) throws {
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { throw PeerError(call: "socket", code: errno) }
        if let receiveBuffer { Self.set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_addr = in6addr_loopback
        let bound =
            ipv6
            ? withUnsafeBytes(of: &v6) { Self.bindTo(descriptor, $0) }
            : withUnsafeBytes(of: &v4) { Self.bindTo(descriptor, $0) }
        guard bound == 0, listen(descriptor, backlog) == 0 else {
            let error = PeerError(call: "bind, listen", code: errno)
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        port = Self.port(descriptor)
        Self.setDeadlines(descriptor)
    }

    deinit {
        // A program that another test is starting has a copy of the socket's descriptor until the program calls `exec`.
        // `shutdown` stops the copy from listening, too.
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    func accept() throws -> LoopbackPeer {
        let connection = Glibc.accept(descriptor, nil, nil)
        if connection < 0 { throw PeerError(call: "accept", code: errno) }
        return LoopbackPeer(connection)
    }

    private static func bindTo(_ descriptor: CInt, _ address: UnsafeRawBufferPointer) -> CInt {
        bind(descriptor, address.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(address.count))
    }

    static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    static func setDeadlines(_ descriptor: CInt) {
        var time = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    static func port(_ descriptor: CInt) -> UInt16 {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutablePointer(to: &storage) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: storage.sin6_port)
    }
}

/// The peer of a transport's connection. Its calls block, with deadlines, and it can end the connection in every
/// possible way.
final class LoopbackPeer {
    /// How the stream that the peer reads has ended.
    enum End: Equatable { case eof, reset, failed(CInt) }

    private var descriptor: CInt

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        LoopbackListener.setDeadlines(descriptor)
        LoopbackListener.set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Connects to a port of 127.0.0.1.
    convenience init(connectingTo port: UInt16) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.init(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw PeerError(call: "connect", code: errno) }
    }

    deinit { close() }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count < 0 { throw PeerError(call: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Writes the pieces one by one, each after the kernel has sent the previous piece.
    func write(pieces: [[UInt8]]) throws {
        for piece in pieces {
            try write(piece)
            while probe_unsent_bytes(descriptor) > 0 { sched_yield() }
        }
    }

    /// Writes, without blocking, until the kernel accepts no more bytes. Returns the number of bytes written.
    func writeUntilFull(_ byte: UInt8, limit: Int) -> Int {
        let chunk = [UInt8](repeating: byte, count: 64 * 1024)
        var total = 0
        while total < limit {
            let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
            let count = chunk.withUnsafeBytes { send(descriptor, $0.baseAddress, min($0.count, limit - total), flags) }
            if count < 0 { break }
            total += count
        }
        return total
    }

    /// Reads exactly `count` bytes, or fewer if the stream ends.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            switch try readSome(limit: count - bytes.count) {
            case .success(let some): bytes += some
            case .failure(let end): throw PeerError(call: "recv \(end) after \(bytes.count) bytes", code: 0)
            }
        }
        return bytes
    }

    func text(_ count: Int) throws -> String { String(decoding: try read(count), as: UTF8.self) }

    /// Reads everything that the transport sends until the stream ends.
    func readToEnd() throws -> (bytes: [UInt8], end: End) {
        var bytes: [UInt8] = []
        while true {
            switch try readSome(limit: 1 << 16) {
            case .success(let some): bytes += some
            case .failure(let end): return (bytes, end)
            }
        }
    }

    func halfClose() { shutdown(descriptor, CInt(SHUT_WR)) }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Closes the connection with an RST.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    private enum Read { case success([UInt8]), failure(End) }

    private func readSome(limit: Int) throws -> Read {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, limit, 0)
        if count > 0 { return .success(Array(buffer.prefix(count))) }
        if count == 0 { return .failure(.eof) }
        if errno == ECONNRESET { return .failure(.reset) }
        if errno == EAGAIN { throw PeerError(call: "recv", code: EAGAIN) }
        return .failure(.failed(errno))
    }
}
