import Glibc
import Synchronization

/// A small transport that sends and receives lines ending in CRLF over one TCP connection. A thread polls the socket.
///
/// The client does not depend on tcpprobe; the tests contain an adapter that conforms to tcpprobe's `Transport`.
public final class LineClient: Sendable {
    /// An event that the client reports. Events are reported one at a time, on the client's thread.
    public enum Event: Sendable, Equatable {
        case connected
        /// A received line, without its CRLF.
        case line([UInt8])
        /// The connection has ended. This is the last event; `rest` contains the bytes of an incomplete line.
        case closed(Reason, rest: [UInt8])
    }

    /// The reason why a connection ended.
    public enum Reason: Sendable, Equatable {
        /// The peer closed the connection.
        case end
        /// ``LineClient/close()`` was called.
        case closed
        case reset, refused
        /// The peer sent a line that is longer than the limit.
        case tooLong
        /// Another error occurred. The value is its `errno`, or 0 if a host name has no address.
        case failed(Int32)
    }

    /// The reason why a call was refused.
    public enum Misuse: Error { case notOpen, alreadyOpened, containsTerminator }

    private enum Phase { case initial, open, closing, closed }

    private struct State {
        var phase = Phase.initial
        /// The lines, with their terminators, that the kernel has not accepted yet.
        var outgoing: [UInt8] = []
    }

    private let host: String
    private let port: UInt16
    private let limit: Int
    private let handler: @Sendable (Event) -> Void
    private let state = Mutex(State())
    /// A pipe that wakes the thread. A byte is written to it when there is something to send, or when the client should
    /// close.
    private let pipe: (out: Int32, in: Int32)

    /// - Parameter limit: the maximum number of bytes in a line, excluding its CRLF. A longer line closes the
    ///   connection.
    public init(host: String, port: UInt16, limit: Int, handler: @escaping @Sendable (Event) -> Void) {
        self.host = host
        self.port = port
        self.limit = limit
        self.handler = handler
        var ends: [Int32] = [-1, -1]
        Glibc.pipe(&ends)
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        pipe = (out: ends[0], in: ends[1])
    }

    deinit {
        Glibc.close(pipe.out)
        Glibc.close(pipe.in)
    }

    /// Starts to connect.
    public func open() throws(Misuse) {
        let isFirst = state.withLock { state in
            defer { if state.phase == .initial { state.phase = .open } }
            return state.phase == .initial
        }
        if !isFirst { throw .alreadyOpened }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<LineClient>.fromOpaque(argument).takeRetainedValue().serve()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged.passUnretained(self).release()
            finish(.failed(code), rest: [])
        }
    }

    /// Queues a line, which is sent as soon as the connection is established.
    public func send(_ line: [UInt8]) throws(Misuse) {
        if line.contains(10) || line.last == 13 { throw .containsTerminator }
        let isOpen = state.withLock { state in
            if state.phase == .open { state.outgoing += line + [13, 10] }
            return state.phase == .open
        }
        if !isOpen { throw .notOpen }
        wake()
    }

    /// Closes the connection after all queued lines have been written. Lines that are received after this call are not
    /// reported.
    public func close() {
        let isOpen = state.withLock { state in
            defer { if state.phase == .open { state.phase = .closing } }
            return state.phase == .open
        }
        if isOpen { wake() }
    }

    /// Wakes the thread. If the pipe is full, the write fails, but the bytes in the pipe wake the thread anyway.
    private func wake() { _ = Glibc.write(pipe.in, [0], 1) }

    // MARK: The thread

    private func serve() {
        var reason = Reason.failed(0)
        for address in addresses() {
            let socket = Glibc.socket(
                Int32(address.family), Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard socket >= 0 else {
                reason = .failed(errno)
                continue
            }
            defer { Glibc.close(socket) }
            reason = connect(socket, to: address)
            if reason == .closed { break }
            if reason != .end { continue }
            handler(.connected)
            var rest: [UInt8] = []
            reason = exchange(socket, &rest)
            return finish(reason, rest: rest)
        }
        finish(reason, rest: [])
    }

    /// Reports the end of the connection. This is called exactly once, and no other event follows.
    private func finish(_ reason: Reason, rest: [UInt8]) {
        state.withLock { $0.phase = .closed }
        handler(.closed(reason, rest: rest))
    }

    private struct Address {
        var family: sa_family_t
        var bytes: [UInt8]
    }

    private func addresses() -> [Address] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                addresses.append(Address(family: address.pointee.sa_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return addresses
    }

    /// - Returns: `end` if the connection was established, `closed` if the client was closed while connecting;
    ///   otherwise, the reason why the connection attempt failed.
    private func connect(_ socket: Int32, to address: Address) -> Reason {
        let code = address.bytes.withUnsafeBytes { bytes in
            Glibc.connect(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        if code == 0 { return .end }
        if errno != EINPROGRESS { return errno == ECONNREFUSED ? .refused : LineClient.reason(errno) }
        while true {
            let ready = wait(socket, for: Int16(POLLOUT))
            if state.withLock({ $0.phase }) == .closing { return .closed }
            if !ready { continue }
            var error: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size)
            // If there is no error, the server accepted the connection, although it may have reset the connection
            // since.
            return error == 0 ? .end : error == ECONNREFUSED ? .refused : LineClient.reason(error)
        }
    }

    /// Reads and writes until one side closes the connection.
    private func exchange(_ socket: Int32, _ rest: inout [UInt8]) -> Reason {
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            let (isClosing, hasOutput) = state.withLock { ($0.phase == .closing, !$0.outgoing.isEmpty) }
            if isClosing && !hasOutput { return shutDown(socket, &chunk) }
            _ = wait(socket, for: (isClosing ? 0 : Int16(POLLIN)) | (hasOutput ? Int16(POLLOUT) : 0))
            if let reason = write(socket) { return reason }
            if isClosing { continue }
            let count = recv(socket, &chunk, chunk.count, 0)
            if count == 0 { return .end }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { continue }
                return LineClient.reason(errno)
            }
            rest += chunk[..<count]
            if !deliver(&rest) { return .tooLong }
        }
    }

    /// Reports all complete lines, and keeps the bytes after them.
    ///
    /// - Returns: false if a line exceeds the maximum length.
    private func deliver(_ bytes: inout [UInt8]) -> Bool {
        var start = 0
        var index = 0
        while index < bytes.count {
            // If the last byte is a CR, the next read may begin with the LF that completes the CRLF.
            if bytes[index] == 13, index + 1 < bytes.count, bytes[index + 1] == 10 {
                if index - start > limit { return false }
                if state.withLock({ $0.phase }) == .open { handler(.line(Array(bytes[start..<index]))) }
                start = index + 2
                index = start
            } else {
                index += 1
            }
        }
        bytes.removeFirst(start)
        return bytes.count <= limit || (bytes.count == limit + 1 && bytes.last == 13)
    }

    /// Writes as many queued bytes as the kernel accepts.
    private func write(_ socket: Int32) -> Reason? {
        state.withLock { state -> Reason? in
            if state.outgoing.isEmpty { return nil }
            let count = Glibc.send(socket, state.outgoing, state.outgoing.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                state.outgoing.removeFirst(count)
                return nil
            }
            return errno == EAGAIN || errno == EINTR ? nil : LineClient.reason(errno)
        }
    }

    /// Sends a FIN, then discards unread input. If unread input remained when the socket was closed, the kernel would
    /// send an RST, and the peer could lose the last line.
    private func shutDown(_ socket: Int32, _ chunk: inout [UInt8]) -> Reason {
        shutdown(socket, Int32(SHUT_WR))
        while recv(socket, &chunk, chunk.count, 0) > 0 {}
        return .closed
    }

    /// - Returns: whether the socket is ready; false if the pipe woke the thread.
    private func wait(_ socket: Int32, for events: Int16) -> Bool {
        var entries = [
            pollfd(fd: socket, events: events, revents: 0), pollfd(fd: pipe.out, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 2, -1)
        if entries[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(pipe.out, &bytes, bytes.count)
        }
        return entries[0].revents != 0
    }

    private static func reason(_ code: Int32) -> Reason {
        code == ECONNRESET || code == EPIPE ? .reset : .failed(code)
    }
}
