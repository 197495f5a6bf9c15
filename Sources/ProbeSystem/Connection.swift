import CShims
import Glibc
package import ProbeBase

/// A TCP connection of the harness. It reads incoming bytes immediately into its own buffer, writes each piece as a
/// separate segment, and detects whether the peer ends it with a FIN or an RST.
///
/// Confined to its reactor's thread. `onChange` is called on that thread after every change that an expectation may be
/// waiting for.
package final class Connection {
    package enum Phase: Sendable, Equatable {
        case connecting
        case open
        case connectFailed(SystemError)
        /// The script closed or reset the connection.
        case closed
    }

    /// How the peer's direction of the connection ended.
    package enum ReadEnd: Sendable, Equatable {
        /// The peer sent a FIN: `recv` returned 0.
        case eof(MonotonicTime)
        /// The peer sent an RST: `recv` failed with ECONNRESET.
        case reset(MonotonicTime)
        case failed(SystemError, MonotonicTime)

        package var time: MonotonicTime {
            switch self {
            case .eof(let time), .reset(let time), .failed(_, let time): time
            }
        }
    }

    package enum Reading: Sendable, Equatable {
        case atOnce
        case stopped
        /// Reads at most `bytes` bytes once per interval.
        case slowly(bytes: Int, every: Duration)
    }

    /// The maximum number of unread bytes; if the number is exceeded, the case ends in `error`.
    package static let receiveLimit = 64 << 20

    let reactor: Reactor
    var descriptor: OwnedDescriptor?
    package internal(set) var phase: Phase
    package internal(set) var local: SocketAddress?
    package internal(set) var peer: SocketAddress?
    /// How the connection began. The origin identifies the connection among captured connections with the same
    /// addresses.
    package internal(set) var origin: ConnectionOrigin
    package let createdAt = MonotonicTime.now
    /// The time at which the connection was accepted or `connect` succeeded.
    package internal(set) var openedAt: MonotonicTime?
    /// The time at which `connect` failed.
    package internal(set) var failedAt: MonotonicTime?
    /// The time at which the kernel last accepted bytes from this side, or at which the connection was established.
    package internal(set) var lastSent: MonotonicTime?
    /// The time at which this side last read bytes.
    package internal(set) var lastRead: MonotonicTime?
    /// The time at which this side ended the connection with a FIN or an RST.
    package internal(set) var endedAt: MonotonicTime?

    package var receiveBuffer = ReceiveBuffer()
    /// Out-of-band bytes, which are not part of the stream.
    package var urgent = ReceiveBuffer()
    package internal(set) var readEnd: ReadEnd?
    package internal(set) var reading: Reading = .atOnce
    /// Whether reading has stopped because the receive buffer has reached its limit.
    package internal(set) var hasOverflowed = false

    var outgoing: [SendOperation] = []
    /// The sends that the script divided into pieces, or that carry the FIN. Their pieces are looked for in the
    /// capture.
    package internal(set) var cutSends: [SendOperation] = []
    package internal(set) var bytesSent = 0
    package internal(set) var isHalfClosed = false
    /// Whether the script reset the connection. If so, unread bytes are discarded.
    package internal(set) var wasAborted = false
    /// Whether the connection was ended without a packet (``Vanishing``).
    package internal(set) var hasVanished = false
    /// Whether a call other than `recv` reported the RST. The kernel reports an RST only once, so `recv` will return 0.
    var resetWasConsumed = false
    var lastWasCut = false
    var sendTimer: TimerQueue.ID?
    var readTimer: TimerQueue.ID?
    var wantsWrite = false

    private let changes = ChangeHandler()
    package var onChange: () -> Void {
        get { changes.handler }
        set { changes.handler = newValue }
    }

    /// The layer that the connection's bytes pass through; `nil` if they are sent and received unchanged.
    package var layer: (any ConnectionLayer)?
    /// The socket that awaits the peer's response after the script has closed the connection.
    private var lingering: LingeringSocket?
    /// The socket of a connection that has vanished silently.
    var silenced: SilencedSocket?

    private init(reactor: Reactor, descriptor: consuming OwnedDescriptor, phase: Phase, origin: ConnectionOrigin) {
        self.reactor = reactor
        self.origin = origin
        self.descriptor = consume descriptor
        self.phase = phase
    }

    deinit { if raw >= 0 { release() } }

    /// Takes over an accepted connection.
    package convenience init(
        accepted socket: consuming AcceptedSocket, reactor: Reactor, options: [RawSocketOption] = []
    ) throws(SystemError) {
        let (time, peer, origin) = (socket.time, socket.peer, socket.origin)
        self.init(reactor: reactor, descriptor: socket.take(), phase: .open, origin: origin)
        local = SocketAddress.local(of: raw)
        self.peer = peer
        openedAt = time
        if !isUnix { try RawSocketOption.noDelay(true).apply(to: raw) }
        for option in options { try option.apply(to: raw) }
        try watch()
    }

    /// Whether the connection uses a Unix socket, which has no packets, ports or RST.
    package var isUnix: Bool { peer?.isUnix ?? false }

    /// Starts connecting. The result is in `phase`.
    ///
    /// The local port is bound first and passed to `willConnect`, so that the capture can accept the port before the
    /// SYN is sent.
    ///
    /// - Parameter reading: how the connection is read, from its first byte on.
    package convenience init(
        connectingTo address: SocketAddress, reactor: Reactor, options: [RawSocketOption], reading: Reading = .atOnce,
        willConnect: (SocketAddress) -> Void
    ) throws(SystemError) {
        self.init(
            reactor: reactor, descriptor: try openSocket(for: address), phase: .connecting,
            origin: .connected(after: WallClock.now))
        self.reading = reading
        peer = address
        if !isUnix { try RawSocketOption.noDelay(true).apply(to: raw) }
        for option in options { try option.apply(to: raw) }
        if isUnix {
            if SocketAddress.bindToOwnName(raw) < 0 { throw SystemError("bind") }
            local = SocketAddress.local(of: raw)
        } else if address.isLoopback {
            let source = address.isIPv6 ? address.with(port: 0) : SocketAddress.loopback(port: 0)
            let descriptor = raw
            if source.withSystemAddress({ bind(descriptor, $0, $1) }) < 0 {
                // No particular port was requested, so EADDRINUSE means that all ports are in use.
                throw SystemError("bind", code: errno == EADDRINUSE ? EADDRNOTAVAIL : errno)
            }
            local = SocketAddress.local(of: raw)
            if let local { willConnect(local) }
        }
        origin = .connected(after: WallClock.now)
        if isUnix {
            connectToPath()
            return
        }
        let descriptor = raw
        let result = address.withSystemAddress { connect(descriptor, $0, $1) }
        if result < 0 && errno != EINPROGRESS {
            phase = .connectFailed(SystemError("connect"))
            failedAt = .now
            return
        }
        try watch()
    }

    /// The descriptor, or -1 once the connection is closed.
    package var raw: Int32 {
        switch descriptor {
        case .some(let owned): owned.raw
        case .none: -1
        }
    }

    package var isOpen: Bool { phase == .open }

    // MARK: Readiness

    private func watch() throws(SystemError) {
        try reactor.register(raw, for: interest) { [weak self] readiness in self?.ready(readiness) }
    }

    var interest: Reactor.Readiness {
        if phase == .connecting { return .write }
        var interest: Reactor.Readiness = []
        if reading == .atOnce && readEnd == nil && !hasOverflowed { interest.insert([.read, .urgent]) }
        if wantsWrite { interest.insert(.write) }
        return interest
    }

    /// Updates the events that the descriptor is watched for. If no events are needed, the descriptor is unregistered,
    /// because epoll would report an error condition in every round.
    func updateInterest() {
        guard raw >= 0 else { return }
        let wanted = interest
        if wanted.isEmpty {
            reactor.unregister(raw)
        } else if reactor.isRegistered(raw) {
            reactor.setInterest(wanted, of: raw)
        } else {
            do {
                try watch()
            } catch {
                end(.failed(error, .now))
            }
        }
    }

    private func ready(_ readiness: Reactor.Readiness) {
        if phase == .connecting {
            finishConnecting()
            return
        }
        if readiness.contains(.urgent) { readUrgent() }
        if reading == .atOnce, !readiness.isDisjoint(with: [.read, .error, .hangUp]) { receive() }
        if raw >= 0, !readiness.isDisjoint(with: [.write, .error, .hangUp]), wantsWrite {
            wantsWrite = false
            pump()
            updateInterest()
        }
        notifyChange()
    }

    /// Asks the kernel for the result of `connect`, in case the reactor has not delivered it yet.
    package func checkConnecting() {
        guard phase == .connecting && raw >= 0 else { return }
        if isUnix { connectToPath() } else { finishConnecting() }
    }

    /// Connects to a Unix socket. Each attempt succeeds or fails immediately. If the listener's queue is full, the
    /// attempt is repeated every millisecond, because the kernel does not report when the queue has room again.
    private func connectToPath() {
        guard let peer else { return }
        let descriptor = raw
        let result = peer.withSystemAddress { connect(descriptor, $0, $1) }
        if result == 0 {
            opened()
            updateInterest()
        } else if errno == EAGAIN || errno == EINTR {
            if let sendTimer { reactor.cancel(sendTimer) }
            sendTimer = reactor.schedule(at: .now + .milliseconds(1)) { [weak self] in
                guard let self, self.raw >= 0, self.phase == .connecting else { return }
                self.sendTimer = nil
                self.connectToPath()
                self.notifyChange()
            }
        } else {
            phase = .connectFailed(SystemError("connect"))
            failedAt = .now
        }
    }

    private func finishConnecting() {
        var info = probe_tcp_info()
        _ = probe_tcp_info(raw, &info)
        if Int(info.state) == Int(TCP_CLOSE) {
            // SO_ERROR is read only from a socket that is not connected, because reading it clears the ECONNRESET that
            // distinguishes RST from FIN.
            var code: Int32 = 0
            var length = socklen_t(4)
            getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length)
            if code == ECONNRESET || code == EPIPE {
                // The connection was established and reset before this check.
                opened()
                resetWasConsumed = code == ECONNRESET
                // If reading is stopped or slow, the end is noticed only when the connection is read.
                if reading == .atOnce {
                    drain()
                    end(code == ECONNRESET ? .reset(.now) : .eof(.now))
                }
            } else {
                phase = .connectFailed(SystemError("connect", code: code == 0 ? ECONNREFUSED : code))
                failedAt = .now
                reactor.unregister(raw)
            }
        } else if Int(info.state) == Int(TCP_SYN_SENT) {
            return
        } else {
            opened()
            updateInterest()
        }
        notifyChange()
    }

    /// Calls ``onChange``, or schedules another call if a call is in progress.
    func notifyChange() { changes.notify() }

    private func opened() {
        phase = .open
        let now = MonotonicTime.now
        (openedAt, lastSent) = (now, now)
        local = SocketAddress.local(of: raw) ?? local
        if case .slowly(let bytes, let interval) = reading { tick(bytes: bytes, every: interval) }
    }

    func end(_ end: ReadEnd) {
        if readEnd == nil {
            readEnd = end
            if case .eof(let time) = end { layer?.receiveEnd(at: time) { receiveBuffer.append($0, at: time) } }
        }
        updateInterest()
    }

    // MARK: Ending the connection

    /// Sends a FIN and closes the socket. Unless reading is stopped or slow, everything in the kernel's buffer is read
    /// first.
    ///
    /// - Returns: the number of unread bytes in the kernel's buffer; 0 if the connection has been closed. A socket with
    ///   unread bytes is not closed, because closing it would send an RST.
    package func close() -> Int {
        guard raw >= 0 else { return 0 }
        if phase == .open && readEnd == nil {
            // While earlier bytes are being read, the peer may send more bytes, which are also read.
            if reading == .atOnce || layer != nil { drain() }
            for _ in 0..<64 where mayReadOn && unreadInKernel > 0 { drain() }
            let unread = mayReadOn ? 0 : unreadInKernel
            if unread > 0 { return unread }
            // The FIN is sent before the socket is closed, because bytes that arrive at a closed socket cause an RST,
            // and no step can expect that RST.
            shutdown(raw, Int32(SHUT_WR))
            endedAt = .now
            if let layer, layer.awaitsAnswer, let rest = descriptor.take() {
                phase = .closed
                lingering = LingeringSocket(rest, layer, on: reactor)
            } else {
                discard()
            }
        }
        release()
        return 0
    }

    /// Stops waiting for the peer's response to the close, and stops dropping packets for a silenced connection.
    package func endLingering() {
        lingering?.end()
        silenced = nil
    }

    /// Whether bytes are read immediately when they arrive.
    var mayReadOn: Bool { reading == .atOnce && readEnd == nil && !hasOverflowed }

    /// Sends an RST, even if there are unread or unsent bytes.
    package func abort() {
        guard raw >= 0 else { return }
        (wasAborted, endedAt) = (true, .now)
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(raw, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        release()
    }

    /// Sends a FIN after all queued bytes; reading continues.
    package func halfClose() throws(SystemError) {
        (isHalfClosed, endedAt) = (true, .now)
        if shutdown(raw, Int32(SHUT_WR)) < 0 { throw SystemError("shutdown") }
    }

    func release() {
        if let sendTimer { reactor.cancel(sendTimer) }
        if let readTimer { reactor.cancel(readTimer) }
        for operation in outgoing { operation.state = .abandoned }
        outgoing = []
        if reactor.isRegistered(raw) { reactor.unregister(raw) }
        descriptor = nil
        phase = .closed
    }
}

extension Connection {
    /// Executes `stop reading`, `resume reading` and `read 1B every 100ms`.
    package func setReading(_ mode: Reading) {
        reading = mode
        if let readTimer { reactor.cancel(readTimer) }
        readTimer = nil
        guard phase == .open, raw >= 0 else { return }
        updateInterest()
        switch mode {
        case .atOnce:
            // `receive` clears the descriptor's readiness, so the reactor would not report the bytes to code that waits
            // for them.
            receive()
            notifyChange()
        case .stopped: break
        case .slowly(let bytes, let interval): tick(bytes: bytes, every: interval)
        }
    }

    /// Reads `bytes` bytes after each interval, until the reading mode changes.
    func tick(bytes: Int, every interval: Duration) {
        readTimer = reactor.schedule(at: .now + interval) { [weak self] in
            guard let self, self.raw >= 0, self.readEnd == nil else { return }
            _ = self.receiveOnce(limit: bytes)
            self.tick(bytes: bytes, every: interval)
            self.notifyChange()
        }
    }

    /// Reads until the kernel's buffer is empty, the peer's direction has ended, or the receive buffer is full.
    package func receive() {
        guard raw >= 0, phase == .open else { return }
        // At most 4 MiB is read per call, so that timers and other descriptors are served even if the peer never stops
        // sending.
        var rounds = 0
        while rounds < 64, receiveOnce(limit: 65536) == 65536 { rounds += 1 }
        updateInterest()
    }

    /// Reads until the kernel's buffer is empty. A short read does not prove that it is empty, because `recv` also
    /// stops at an urgent byte.
    func drain() {
        guard raw >= 0, phase == .open else { return }
        // The number of rounds is limited, because a peer that never stops sending would otherwise block the reactor.
        var rounds = 0
        while rounds < 2048, !hasOverflowed, receiveOnce(limit: 65536) > 0 { rounds += 1 }
        updateInterest()
    }

    /// Reads and discards the bytes in the kernel's buffer, but at most 4 MiB, in case the peer never stops sending.
    func discard() {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
            for _ in 0..<64 where recv(raw, buffer.baseAddress, buffer.count, 0) <= 0 { return }
        }
    }

    /// Calls `recv` once.
    ///
    /// - Returns: the number of bytes read; 0 if none are available or the peer's direction has ended.
    private func receiveOnce(limit: Int) -> Int {
        guard readEnd == nil, !hasOverflowed else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: min(limit, 65536), alignment: 1) { buffer in
            while true {
                let count = recv(raw, buffer.baseAddress, buffer.count, 0)
                if count > 0 {
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[0..<count])
                    let now = MonotonicTime.now
                    lastRead = now
                    if let layer {
                        layer.receive(bytes, at: now) { receiveBuffer.append($0, at: now) }
                    } else {
                        receiveBuffer.append(bytes, at: now)
                    }
                    if receiveBuffer.count + (layer?.held ?? 0) > Connection.receiveLimit { hasOverflowed = true }
                    return count
                }
                if count == 0 {
                    end(resetWasConsumed ? .reset(.now) : .eof(.now))
                    return 0
                }
                switch errno {
                case EINTR: continue
                case EAGAIN: return 0
                case ECONNRESET:
                    end(.reset(.now))
                    return 0
                default:
                    end(.failed(SystemError("recv"), .now))
                    return 0
                }
            }
        }
    }

    func readUrgent() {
        var byte: UInt8 = 0
        if recv(raw, &byte, 1, Int32(MSG_OOB)) == 1 { urgent.append([byte], at: .now) }
    }

    /// Whether the peer has ended its direction, but `recv` has not reported the end yet, perhaps because bytes before
    /// the end are unread. Does not distinguish FIN from RST, and consumes nothing.
    package var endIsPending: Bool {
        guard raw >= 0, readEnd == nil else { return false }
        var poller = pollfd(fd: raw, events: Int16(PROBE_EPOLLRDHUP), revents: 0)
        return poll(&poller, 1, 0) > 0
    }

    /// Whether `recv` would return bytes, or report a FIN or an RST.
    package var hasUnread: Bool { readEnd == nil && (endIsPending || unreadInKernel > 0) }

    /// The number of bytes that are unread in the kernel's buffer because reading is stopped or slow. Closing the
    /// socket with unread bytes would send an RST instead of a FIN. The TLS layer reads these bytes before it closes
    /// the connection.
    package var unreadAtClose: Int {
        phase == .open && readEnd == nil && !mayReadOn && layer == nil ? unreadInKernel : 0
    }

    /// The number of bytes that `recv` has not returned yet.
    package var unreadInKernel: Int {
        var count: Int32 = 0
        guard raw >= 0, ioctl(raw, UInt(FIONREAD), &count) == 0 else { return 0 }
        return Int(count)
    }
}

extension Connection {
    /// The maximum number of sends whose pieces are checked in the capture. The number is limited because a proxy
    /// creates such a send for each piece that it forwards.
    private static let maxCutSends = 4096

    /// Queues an operation, and starts it immediately if all earlier operations have finished.
    package func send(_ operation: SendOperation) {
        operation.streamOffset = bytesSent + outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken }
        outgoing.append(operation)
        if operation.isCut || operation.carriesFIN, cutSends.count < Self.maxCutSends { cutSends.append(operation) }
        if outgoing.count == 1 { pump() }
        updateInterest()
    }

    /// Whether no send is queued or in progress.
    package var isIdle: Bool { outgoing.isEmpty }

    /// The number of sends that the kernel has not completely accepted.
    package var unfinishedSends: Int { outgoing.count }

    /// The number of queued bytes that the kernel has not accepted yet.
    package var unacceptedBytes: Int { outgoing.reduce(0) { $0 + $1.bytes.count - $1.taken } }

    /// The time at which a send last made progress or, if the pace delays a send, the time until which it waits. A
    /// queued send is not considered stalled while the send before it makes progress.
    package var lastProgress: MonotonicTime? { outgoing.map(\.lastProgressOrPace).max() }

    func pump() {
        while let operation = outgoing.first {
            guard advance(operation) else { return }
            outgoing.removeFirst()
            lastWasCut = operation.isCut
            notifyChange()
        }
    }

    /// Continues an operation; returns whether it has ended.
    private func advance(_ operation: SendOperation) -> Bool {
        operation.state = .underWay
        while operation.piece < operation.ends.count {
            let now = MonotonicTime.now
            let start = operation.piece == 0 ? 0 : operation.ends[operation.piece - 1]
            let end = operation.ends[operation.piece]
            if operation.taken == start {
                // The previous piece must have left the kernel before the next one is written; otherwise both pieces
                // could be sent in one segment.
                if operation.isCut || lastWasCut, !hasLeft(operation, now: now) { return false }
                if let earliest = operation.earliestDeparture(), now < earliest {
                    pumpLater(at: earliest)
                    return false
                }
                if operation.begun == nil { operation.begun = now }
            }
            guard write(operation, upTo: end) else {
                if case .failed = operation.state { return true }
                return false
            }
            operation.departures.append(.now)
            operation.piece += 1
        }
        operation.state = .done(.now)
        if operation.carriesFIN {
            (isHalfClosed, endedAt) = (true, .now)
            if shutdown(raw, Int32(SHUT_WR)) < 0 { operation.state = .failed(SystemError("shutdown"), .now) }
        }
        return true
    }

    /// Returns whether the kernel has no unsent bytes (SIOCOUTQNSD). For a Unix socket, which sends nothing over a
    /// wire, returns whether the peer has read everything. The kernel sends no notification of either condition, so the
    /// condition is polled.
    private func hasLeft(_ operation: SendOperation, now: MonotonicTime) -> Bool {
        let unsent = isUnix ? unreadByPeer : max(0, Int(probe_unsent_bytes(raw)))
        if unsent == 0 { return true }
        if unsent != operation.unsentSeen {
            operation.unsentSeen = unsent
            operation.lastProgress = now
        }
        // The polling interval is an eighth of the wait so far, between 20 us and 2 ms: a short wait ends promptly, and
        // a long wait costs little CPU time.
        let waited = (now - operation.lastProgress).nanoseconds
        pumpLater(at: now + .nanoseconds(min(2_000_000, max(20_000, waited / 8))))
        return false
    }

    /// The number of bytes that the peer has not read yet, as counted by the kernel. The count is 0 if the peer has
    /// read everything.
    private var unreadByPeer: Int {
        var count: Int32 = 0
        return ioctl(raw, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }

    private func pumpLater(at time: MonotonicTime) {
        if let sendTimer { reactor.cancel(sendTimer) }
        sendTimer = reactor.schedule(at: time) { [weak self] in
            guard let self, self.raw >= 0 else { return }
            self.sendTimer = nil
            self.pump()
            self.updateInterest()
        }
    }

    /// Writes the bytes before `end`; returns whether the kernel has accepted all of them.
    private func write(_ operation: SendOperation, upTo end: Int) -> Bool {
        while operation.taken < end {
            let (stop, flags) = operation.nextWrite(upTo: end, to: raw)
            let count = operation.bytes.withUnsafeBytes { bytes in
                Glibc.send(raw, bytes.baseAddress! + operation.taken, stop - operation.taken, flags)
            }
            if count > 0 {
                operation.taken += count
                bytesSent += count
                operation.lastProgress = .now
                lastSent = operation.lastProgress
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                wantsWrite = true
                return false
            default:
                let error = SystemError("send")
                operation.state = .failed(error, .now)
                if error.code == ECONNRESET {
                    // The kernel reports an RST only once, and has now reported it to `send`.
                    resetWasConsumed = true
                    if reading == .atOnce { drain() }
                }
                return false
            }
        }
        return true
    }
}
