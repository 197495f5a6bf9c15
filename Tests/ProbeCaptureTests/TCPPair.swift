import Glibc

/// A listener on 127.0.0.1, with connections to it that produce traffic for a capture. All calls block.
final class LoopbackListener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let socket = try checked(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withGeneric(&address) { generic in
            try checked(bind(socket, generic, length))
            try checked(listen(socket, 16))
            try checked(getsockname(socket, generic, &length))
        }
        descriptor = socket
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    func connection() throws -> TCPPair {
        let client = try checked(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = loopback(port: port)
        try withGeneric(&address) { generic in
            try checked(connect(client, generic, socklen_t(MemoryLayout<sockaddr_in>.size)))
        }
        return TCPPair(client: client, server: try checked(accept(descriptor, nil, nil)))
    }
}

/// Both ends of one connection.
final class TCPPair {
    let client: Int32
    let server: Int32

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
        for end in [client, server] {
            var on: Int32 = 1
            setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        close(client)
        close(server)
    }

    func send(_ text: String, from end: Int32) throws {
        let bytes = Array(text.utf8)
        guard try checked(Glibc.send(end, bytes, bytes.count, 0)) == bytes.count else { throw CallFailed(code: 0) }
    }

    /// Reads until `count` bytes or the end of the stream has arrived, and returns the number of bytes read.
    @discardableResult
    func receive(_ count: Int, at end: Int32) throws -> Int {
        var buffer = [UInt8](repeating: 0, count: count)
        return try checked(recv(end, &buffer, count, Int32(MSG_WAITALL)))
    }

    /// Sends five lines in each direction, then closes the client's end, followed by the server's end. Returns when all
    /// bytes and the ends of both streams have arrived.
    func exchange() throws {
        for number in 0..<5 {
            try send("ping \(number)\r\n", from: client)
            try receive(8, at: server)
            try send("pong \(number)\r\n", from: server)
            try receive(8, at: client)
        }
        for (from, to) in [(client, server), (server, client)] {
            try checked(shutdown(from, Int32(SHUT_WR)))
            guard try receive(1, at: to) == 0 else { throw CallFailed(code: 0) }
        }
    }
}

struct CallFailed: Error {
    var code: Int32
}

@discardableResult
func checked<Value: BinaryInteger>(_ result: Value) throws -> Value {
    guard result >= 0 else { throw CallFailed(code: errno) }
    return result
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
}

private func withGeneric(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) throws -> Void) throws {
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}
