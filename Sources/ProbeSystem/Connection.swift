package import ProbeBase
import CShims
import Glibc

/// One TCP connection of the harness. It reads at once into its own buffer, writes each piece as a segment of its own,
/// and keeps FIN and RST apart as different ends.
///
/// Confined to its reactor's thread. `onChange` is called there after every change that an expectation may wait for.
package final class Connection {
    package enum Phase: Sendable, Equatable {
        case connecting
        case open
        case connectFailed(SystemError)
        /// The script closed or reset it.
        case closed
    }

    /// How the peer's direction has ended.
    package enum ReadEnd: Sendable, Equatable {
        /// FIN: `recv` returned 0.
        case eof(MonotonicTime)
        /// RST: `recv` failed with ECONNRESET.
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
        /// `bytes` at each tick.
        case slowly(bytes: Int, every: Duration)
    }

    /// The most unread bytes; more is an error of the case.
    package static let receiveLimit = 64 << 20

    let reactor: Reactor
    var descriptor: OwnedDescriptor?
    package internal(set) var phase: Phase
    package internal(set) var local: SocketAddress?
    package internal(set) var peer: SocketAddress?
    /// Identifies the connection among the captured ones with the same addresses.
    package internal(set) var origin: ConnectionOrigin
    package let createdAt = MonotonicTime.now
    /// When it was accepted, or when `connect` succeeded.
    package internal(set) var openedAt: MonotonicTime?
    /// When `connect` failed.
    package internal(set) var failedAt: MonotonicTime?
    /// When the kernel last took bytes of this side, or the connection was made.
    package internal(set) var lastSent: MonotonicTime?
    /// When this side last read bytes.
    package internal(set) var lastRead: MonotonicTime?
    /// When this side ended it with a FIN or an RST.
    package internal(set) var endedAt: MonotonicTime?

    package var receiveBuffer = ReceiveBuffer()
    /// Out-of-band bytes, which are not part of the stream.
    package var urgent = ReceiveBuffer()
    package internal(set) var readEnd: ReadEnd?
    package internal(set) var reading: Reading = .atOnce
    /// The receive buffer has reached its limit; reading has stopped.
    package internal(set) var hasOverflowed = false

    var outgoing: [SendOperation] = []
    /// The sends that the script cut, and one that carries the FIN: the wire is checked for their pieces.
    package internal(set) var cutSends: [SendOperation] = []
    package internal(set) var bytesSent = 0
    package internal(set) var isHalfClosed = false
    /// The script reset it; unread bytes are discarded.
    package internal(set) var wasAborted = false
    /// It was ended without a packet (``Vanishing``).
    package internal(set) var hasVanished = false
    /// Another call than `recv` was told about the RST. The kernel reports it only once, so `recv` will return 0.
    var resetWasTaken = false
    var lastWasCut = false
    var sendTimer: TimerQueue.ID?
    var readTimer: TimerQueue.ID?
    var wantsWrite = false

    private let changes = ChangeHandler()
    package var onChange: () -> Void {
        get { changes.handler }
        set { changes.handler = newValue }
    }

    /// What its bytes pass through; nil: they are those of the network.
    package var layer: (any ConnectionLayer)?
    /// After the script has closed it, while the peer's answer is waited for.
    private var lingering: LingeringSocket?
    /// After it has vanished silently.
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

    /// Of a Unix socket: without packets, ports and RST.
    package var isUnix: Bool { peer?.isUnix ?? false }

    /// Begins to connect; `phase` has the result.
    ///
    /// The local port is bound first, and `willConnect` is called with it, so that the capture knows the port before
    /// the SYN is sent.
    ///
    /// - Parameter reading: how it is read from its first byte on.
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
                // All ports are in use, as none was asked for.
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

    /// The descriptor, or -1 once it is closed.
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

    /// Watches for what is wanted now. If nothing is wanted, the descriptor is unregistered: epoll reports errors again
    /// and again, whether wanted or not.
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

    /// Asks the kernel for the result of `connect`, which the reactor may not have delivered yet.
    package func checkConnecting() {
        guard phase == .connecting && raw >= 0 else { return }
        if isUnix { connectToPath() } else { finishConnecting() }
    }

    /// Connects to a Unix socket. That succeeds or fails at once; while the listener's queue is full it is tried again each millisecond,
    /// because the kernel tells nobody that there is room.
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
            // SO_ERROR is read only from a socket that is not connected: reading it consumes the ECONNRESET that tells
            // RST from FIN.
            var code: Int32 = 0
            var length = socklen_t(4)
            getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length)
            if code == ECONNRESET || code == EPIPE {
                // The connection was established and reset before this check.
                opened()
                resetWasTaken = code == ECONNRESET
                // Else it ends where it is read.
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

    /// Calls ``onChange``, or has it called again if it is running.
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

    // MARK: The ends

    /// Sends FIN and closes. Unless reading is stopped or slow, everything in the kernel is read first.
    ///
    /// - Returns: the number of unread bytes in the kernel, which prevent closing (it would send RST); 0 if the
    ///   connection is closed.
    package func close() -> Int {
        guard raw >= 0 else { return 0 }
        if phase == .open && readEnd == nil {
            // The peer may send more meanwhile, which is read too.
            if reading == .atOnce || layer != nil { drain() }
            for _ in 0..<64 where mayReadOn && unreadInKernel > 0 { drain() }
            let unread = mayReadOn ? 0 : unreadInKernel
            if unread > 0 { return unread }
            // FIN is sent first: bytes that arrive after this would cause an RST, and no step can expect them.
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

    /// The peer's answer to the end is waited for no longer, and what came for it since is dropped no longer.
    package func endLingering() {
        lingering?.end()
        silenced = nil
    }

    /// Whether bytes are read as they arrive.
    var mayReadOn: Bool { reading == .atOnce && readEnd == nil && !hasOverflowed }

    /// Sends RST, whatever is unread or unsent.
    package func abort() {
        guard raw >= 0 else { return }
        (wasAborted, endedAt) = (true, .now)
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(raw, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        release()
    }

    /// Sends FIN after all that was sent; reading continues.
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
