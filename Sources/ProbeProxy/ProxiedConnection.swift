package import ProbeBase
package import ProbeSystem

/// A connection to a proxy, its onward connection, and the data forwarded between them.
///
/// Confined to its reactor's thread. ``onChange`` is called on that thread after each change that may end a wait.
package final class ProxiedConnection {
    /// The number of bytes that are buffered for a direction that is not held; further bytes remain unread in the
    /// kernel. For a direction that is held, up to ``Connection/receiveLimit`` bytes are buffered.
    private static let maxInFlight = 256 << 10

    package let client: Connection
    /// The onward connection.
    package let server: Connection
    package let number: Int
    private let reactor: Reactor
    /// The queue of each direction, by the side that receives its bytes.
    var queues: [ConversationSide: ForwardQueue] = [.client: ForwardQueue(), .server: ForwardQueue()]
    private var timers: [ConversationSide: TimerQueue.ID] = [:]
    /// The send that is in progress to each side.
    private var operations: [ConversationSide: SendOperation] = [:]
    /// The sides whose end of stream has been handled.
    private var noted: Set<ConversationSide> = []
    enum Fault { case reset, vanish }
    /// The faults that are applied when a side is connected.
    var pendingFaults: [ConversationSide: (fault: Fault, id: Int)] = [:]
    /// Called when a fault that was requested before the connection was established could not be applied.
    package var onFaultFailure: (SystemError) -> Void = { _ in }
    private var isPumping = false
    private var mustPumpAgain = false

    /// The bytes received from each side that no expectation has consumed; `nil` if expectations do not examine them.
    package var watched: [ConversationSide: ReceiveBuffer]?
    /// The sides that sent more bytes than are kept for expectations.
    package private(set) var overflowed: Set<ConversationSide> = []
    /// The first 1 MiB of the bytes received from each side; `nil` if they are not recorded.
    package var recorded: [ConversationSide: [UInt8]]?
    /// The maximum number of recorded bytes per side.
    private static let longestRecord = 1 << 20

    /// The reason why the onward connection failed; `nil` if it is open, or still being opened.
    package private(set) var failure: SystemError?
    /// The side that first ended the connection, and how; `nil` if neither side has ended it.
    package private(set) var firstEnd: (side: ConversationSide, end: ForwardEnd)?
    private let changes = ChangeHandler()
    package var onChange: () -> Void {
        get { changes.handler }
        set { changes.handler = newValue }
    }
    /// Called with bytes received from a side, before they are forwarded.
    package var onBytes: ((ConversationSide, UnsafeRawBufferPointer, MonotonicTime) -> Void)?
    /// Called when a side has ended its direction of the connection.
    package var onEnd: ((ConversationSide, ForwardEnd, MonotonicTime) -> Void)?
    /// Called once, when the client's connection and the onward connection have both been closed.
    package var onClosed: () -> Void = {}
    /// Called with each piece that must be sent as a separate segment.
    package var willCut: (Connection, SendOperation) -> Void = { _, _ in }

    /// Creates a pair of connections.
    ///
    /// - Parameter watches: whether forwarded bytes are kept so that expectations can examine them.
    package init(client: Connection, server: Connection, number: Int, reactor: Reactor, watches: Bool) {
        (self.client, self.server, self.number, self.reactor) = (client, server, number, reactor)
        if watches { watched = [.client: ReceiveBuffer(), .server: ReceiveBuffer()] }
        client.layer = ForwardLayer(self, from: .client)
        server.layer = ForwardLayer(self, from: .server)
        client.onChange = { [weak self] in self?.changed() }
        server.onChange = { [weak self] in self?.changed() }
    }

    package subscript(side: ConversationSide) -> Connection { side == .client ? client : server }

    /// Whether the client's connection and the onward connection have both been closed.
    package var isOver: Bool { client.raw < 0 && server.raw < 0 }

    /// Examines the client's connection and the onward connection, because the onward connection may already have
    /// failed.
    package func begin() { changed() }

    private func applyPendingFaults() {
        for (side, (fault, id)) in pendingFaults where self[side].phase == .open {
            pendingFaults[side] = nil
            do throws(SystemError) {
                switch fault {
                case .reset: reset(side, by: id)
                case .vanish: try vanish(side, by: id)
                }
            } catch {
                onFaultFailure(error)
            }
        }
    }

    /// Aborts the client's connection and the onward connection, and discards bytes that have not been forwarded.
    package func abort() {
        for side in ConversationSide.allCases {
            self[side].onChange = {}
            if let timer = timers.removeValue(forKey: side) { reactor.cancel(timer) }
            queues[side]?.abandon()
        }
        client.abort()
        server.abort()
        onClosed()
        onClosed = {}
        (watched, recorded, onBytes, onEnd) = (nil, nil, nil, nil)
    }

    // MARK: Receiving

    /// Handles bytes from a side as soon as they have been read.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer, from side: ConversationSide, at time: MonotonicTime) {
        onBytes?(side, bytes, time)
        watch(bytes, from: side, at: time)
        if let count = recorded?[side]?.count, count < Self.longestRecord {
            recorded?[side]?.append(contentsOf: bytes.prefix(Self.longestRecord - count))
        }
        let destination = side.opposite
        var rest = bytes
        if queues[destination]?.isTransparent ?? false, self[destination].isOpen, self[destination].isIdle {
            let taken = SendShortcut(of: self[destination]).write(bytes)
            rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
        }
        if !rest.isEmpty { queues[destination]?.append(Array(rest), at: time) }
    }

    private func watch(_ bytes: UnsafeRawBufferPointer, from side: ConversationSide, at time: MonotonicTime) {
        guard let count = watched?[side]?.count, !overflowed.contains(side) else { return }
        if count + bytes.count > Connection.receiveLimit { overflowed.insert(side) }
        watched?[side]?.append(bytes, at: time)
    }

    func update(_ side: ConversationSide, _ change: (inout ForwardQueue) -> Void) {
        guard var queue = queues.removeValue(forKey: side) else { return }
        change(&queue)
        queues[side] = queue
        changed()
    }

    /// Moves back to the queue the bytes that the kernel has not accepted, because a step changes how bytes are
    /// forwarded.
    func takeBack(_ side: ConversationSide) {
        guard operations[side] != nil else { return }
        let rest = SendShortcut(of: self[side]).takeBack()
        operations[side] = nil
        queues[side]?.putBack(rest)
    }

    /// Checks whether either side has ended, and forwards everything that may be forwarded.
    func changed() {
        if isPumping {
            mustPumpAgain = true
            return
        }
        isPumping = true
        repeat {
            mustPumpAgain = false
            applyPendingFaults()
            for side in ConversationSide.allCases { noteEnd(of: side) }
            for side in ConversationSide.allCases { pump(to: side) }
            for side in ConversationSide.allCases { bound(side) }
            closeIfOver()
        } while mustPumpAgain
        isPumping = false
        changes.notify()
        if isOver {
            onClosed()
            onClosed = {}
        }
    }

    private func noteEnd(of side: ConversationSide) {
        if noted.contains(side) { return }
        if side == .server, case .connectFailed(let error) = server.phase {
            failure = error
            // The client's connection has already been accepted, so an RST shows that there is no connection to the
            // server.
            noted.insert(side)
            queues[.client]?.abandon()
            client.abort()
            return
        }
        switch self[side].readEnd {
        case nil: return
        case .eof(let time)?:
            noted.insert(side)
            firstEnd = firstEnd ?? (side, .fin)
            onEnd?(side, .fin, time)
            queues[side.opposite]?.append(.fin, at: time)
        case .reset(let time)?, .failed(_, let time)?:
            noted.insert(side)
            firstEnd = firstEnd ?? (side, .reset)
            onEnd?(side, .reset, time)
            queues[side.opposite]?.append(.reset, at: time)
            queues[side]?.abandon()
        }
    }

    // MARK: Forwarding

    private func pump(to side: ConversationSide) {
        let leg = self[side]
        switch leg.phase {
        case .connecting: return
        case .connectFailed, .closed:
            queues[side]?.abandon()
            return
        case .open: break
        }
        while leg.isIdle {
            if let operation = operations.removeValue(forKey: side), case .failed = operation.state {
                queues[side]?.abandon()
                noteLoss(of: side)
                return
            }
            guard let action = queues[side]?.next(at: .now) else { return }
            switch action {
            case .idle: return
            case .wait(let moment):
                schedule(side, at: moment)
                return
            case .write(let bytes, let isApart):
                let operation = SendOperation(
                    pieces: [bytes], isUrgent: false, now: .now, leavesAlone: isApart)
                operations[side] = operation
                if isApart { willCut(leg, operation) }
                leg.send(operation)
            case .end(let end):
                applyEnd(end, to: side)
                return
            }
        }
        // An RST is sent even if the receiver does not read.
        if !leg.isIdle, queues[side]?.isCutOff ?? false {
            queues[side]?.abandon()
            applyEnd(.reset, to: side)
        }
    }

    /// Handles a failed send to a side that had sent only a FIN: an RST tells the other side that bytes were lost.
    private func noteLoss(of side: ConversationSide) {
        guard case .eof? = self[side].readEnd else { return }
        onEnd?(side, .reset, .now)
        let other = self[side.opposite]
        if queues[side.opposite]?.hasEnded ?? true {
            if other.isOpen { other.abort() }
        } else {
            queues[side.opposite]?.append(.reset, at: .now)
        }
        self[side].abort()
        mustPumpAgain = true
    }

    func applyEnd(_ end: ForwardEnd, to side: ConversationSide) {
        let leg = self[side]
        switch end {
        case .fin, .halfClose:
            // If the connection has already been reset, no FIN is needed.
            do throws(SystemError) { try leg.halfClose() } catch { leg.abort() }
        case .reset: leg.abort()
        case .close:
            leg.setReading(.atOnce)
            if leg.close() > 0 { leg.abort() }
        }
        mustPumpAgain = true
    }

    private func schedule(_ side: ConversationSide, at moment: MonotonicTime) {
        if let timer = timers.removeValue(forKey: side) { reactor.cancel(timer) }
        timers[side] = reactor.schedule(at: moment) { [weak self] in
            self?.timers[side] = nil
            self?.changed()
        }
    }

    /// Pauses reading from a side that sends faster than the other side receives.
    private func bound(_ side: ConversationSide) {
        let leg = self[side]
        guard leg.phase == .open, leg.readEnd == nil else { return }
        let destination = side.opposite
        let waiting = waiting(to: destination)
        let limit = gate(to: destination) == .open ? Self.maxInFlight : Connection.receiveLimit
        if waiting >= limit, leg.reading == .atOnce {
            leg.setReading(.stopped)
        } else if waiting < limit / 2 || waiting == 0, leg.reading == .stopped {
            leg.setReading(.atOnce)
            mustPumpAgain = true
        }
    }

    /// Closes the sockets once both directions of the proxied connection have ended.
    private func closeIfOver() {
        for side in ConversationSide.allCases {
            let leg = self[side]
            guard leg.raw >= 0, leg.phase == .open, leg.isIdle else { continue }
            switch leg.readEnd {
            case .reset?, .failed?: _ = leg.close()
            case .eof? where queues[side]?.hasEnded ?? true: _ = leg.close()
            case .eof?, nil: break
            }
        }
        if failure != nil, server.raw >= 0 { server.abort() }
    }
}

/// Passes bytes from one side's connection to the other side as soon as they have been read.
private final class ForwardLayer: ConnectionLayer {
    private weak var connection: ProxiedConnection?
    private let side: ConversationSide

    init(_ connection: ProxiedConnection, from side: ConversationSide) {
        (self.connection, self.side) = (connection, side)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        connection?.receive(bytes, from: side, at: time)
    }

    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {}

    var held: Int { 0 }
    var awaitsAnswer: Bool { false }
}

/// The operations that a script's steps perform on a proxied connection.
extension ProxiedConnection {
    package func forward(_ style: ForwardStyle<Resolved>, count: Int?, to side: ConversationSide, by id: Int = 0) {
        takeBack(side)
        update(side) { $0.forward(style, count: count, by: id) }
    }

    package func hold(to side: ConversationSide, by id: Int) {
        takeBack(side)
        update(side) { $0.hold(by: id) }
    }

    package func release(to side: ConversationSide, by id: Int) { update(side) { $0.release(by: id) } }

    package func discard(to side: ConversationSide, by id: Int) {
        takeBack(side)
        update(side) { $0.discard(by: id) }
    }

    /// Replaces bytes that are forwarded to a side.
    ///
    /// - Parameter original: the bytes to replace; must not be empty.
    package func replace(_ original: [UInt8], with replacement: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.replace(original, with: replacement, at: .now, by: id) }
    }

    package func insert(_ bytes: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.insert(bytes, by: id) }
    }

    /// Sends a FIN to a side after the bytes that are being forwarded to it; held bytes are dropped.
    package func end(_ end: ForwardEnd, to side: ConversationSide, by id: Int) {
        if end == .close, queues[side]?.hasEnded ?? false {
            // The FIN has already been sent, so only the connection to the side is closed.
            if self[side].isOpen {
                queues[side]?.noteActed(id)
                applyEnd(.close, to: side)
            }
            changed()
            return
        }
        update(side) { $0.finish(end, at: .now, by: id) }
    }

    /// Returns the effect of a step on the bytes that are forwarded to a side.
    package func effect(of id: Int, to side: ConversationSide) -> ForwardEffect {
        queues[side]?.effect(of: id) ?? ForwardEffect()
    }

    /// Sends an RST to a side as soon as it is connected, and drops the bytes waiting for it.
    package func reset(_ side: ConversationSide, by id: Int) {
        if self[side].phase == .connecting {
            pendingFaults[side] = (.reset, id)
            return
        }
        if self[side].isOpen { queues[side]?.noteActed(id) }
        queues[side]?.abandon()
        self[side].abort()
        changed()
    }

    /// Ends a side's connection without sending a FIN or an RST.
    package func vanish(_ side: ConversationSide, by id: Int) throws(SystemError) {
        if self[side].phase == .connecting { pendingFaults[side] = (.vanish, id) }
        guard self[side].isOpen else { return }
        try Vanishing(of: self[side]).end()
        queues[side]?.noteActed(id)
        queues[side]?.abandon()
        changed()
    }

    // MARK: States

    /// Returns the number of bytes received from the opposite side that have not been forwarded to this side.
    package func waiting(to side: ConversationSide) -> Int { (queues[side]?.waiting ?? 0) + self[side].unacceptedBytes }

    /// Whether bytes, a FIN or an RST are in flight, in a kernel buffer or in a queue, and no step holds them.
    package var isForwarding: Bool {
        ConversationSide.allCases.contains { side in
            let leg = self[side]
            if leg.raw < 0 { return false }
            let mayArrive = leg.phase == .connecting || leg.reading == .atOnce && leg.hasUnread
            return mayArrive || !leg.isIdle || queues[side]?.isMoving ?? false
        }
    }

    package func gate(to side: ConversationSide) -> ForwardQueue.Gate { queues[side]?.gate ?? .open }
}
