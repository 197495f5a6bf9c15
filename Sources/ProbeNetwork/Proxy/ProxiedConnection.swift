package import ProbeBase
package import ProbeSystem

/// A connection that came to a proxy, the one that it made onwards, and what goes between them.
///
/// Confined to its reactor's thread. ``onChange`` is called there after each change that somebody may wait for.
package final class ProxiedConnection {
    /// More unread bytes of a side than this are left to its kernel while they go on; what is held is kept up to
    /// ``Connection/receiveLimit``.
    private static let mostUnderWay = 256 << 10

    package let client: Connection
    /// The connection onwards.
    package let server: Connection
    package let number: Int
    private let reactor: Reactor
    /// By where the bytes go.
    var queues: [ConversationSide: ForwardQueue] = [.client: ForwardQueue(), .server: ForwardQueue()]
    private var timers: [ConversationSide: TimerQueue.ID] = [:]
    /// What a side's kernel is taking.
    private var operations: [ConversationSide: SendOperation] = [:]
    /// The ends that a side's peer has sent, and that are noted.
    private var noted: Set<ConversationSide> = []
    enum Fault { case reset, vanish }
    /// Of sides that are not connected yet.
    var faultsToCome: [ConversationSide: (fault: Fault, id: Int)] = [:]
    /// A fault of a connection to come could not be carried out.
    package var onFaultFailure: (SystemError) -> Void = { _ in }
    private var isPumping = false
    private var mustPumpAgain = false

    /// What has come from each side and no expectation has passed; nil: nobody looks.
    package var watched: [ConversationSide: ReceiveBuffer]?
    /// Sides of which more was to be watched than is kept, with nobody to look at it.
    package private(set) var overflowed: Set<ConversationSide> = []
    /// What has come from each side since its beginning, the first mebibyte; nil: nobody asks.
    package var recorded: [ConversationSide: [UInt8]]?
    /// Of a longer record the beginning is kept.
    private static let longestRecord = 1 << 20

    /// Why the connection onwards could not be made; nil where it is or can be yet.
    package private(set) var failure: SystemError?
    /// Which peer ended it first, and how; nil where none has.
    package private(set) var firstEnd: (side: ConversationSide, end: ForwardEnd)?
    private let changes = ChangeHandler()
    package var onChange: () -> Void {
        get { changes.handler }
        set { changes.handler = newValue }
    }
    /// Called with what comes from a side, before it goes on.
    package var onBytes: ((ConversationSide, UnsafeRawBufferPointer, MonotonicTime) -> Void)?
    /// Called with the end of a side.
    package var onEnd: ((ConversationSide, ForwardEnd, MonotonicTime) -> Void)?
    /// Called once, when both connections are closed.
    package var onOver: () -> Void = {}
    /// Called with each piece that has to leave as a segment of its own.
    package var willCut: (Connection, SendOperation) -> Void = { _, _ in }

    /// - Parameter watches: whether what passes is kept for expectations.
    package init(client: Connection, server: Connection, number: Int, reactor: Reactor, watches: Bool) {
        (self.client, self.server, self.number, self.reactor) = (client, server, number, reactor)
        if watches { watched = [.client: ReceiveBuffer(), .server: ReceiveBuffer()] }
        client.layer = ForwardLayer(self, from: .client)
        server.layer = ForwardLayer(self, from: .server)
        client.onChange = { [weak self] in self?.changed() }
        server.onChange = { [weak self] in self?.changed() }
    }

    package subscript(side: ConversationSide) -> Connection { side == .client ? client : server }

    /// Both connections are closed.
    package var isOver: Bool { client.raw < 0 && server.raw < 0 }

    /// Looks at what both connections have come to by now: one onwards may have failed at once.
    package func begin() { changed() }

    private func carryOutFaultsToCome() {
        for (side, (fault, id)) in faultsToCome where self[side].phase == .open {
            faultsToCome[side] = nil
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

    /// Ends both, without a word of what was not passed on.
    package func abort() {
        for side in ConversationSide.allCases {
            self[side].onChange = {}
            if let timer = timers.removeValue(forKey: side) { reactor.cancel(timer) }
            queues[side]?.abandon()
        }
        client.abort()
        server.abort()
        onOver()
        onOver = {}
        (watched, recorded, onBytes, onEnd) = (nil, nil, nil, nil)
    }

    // MARK: What comes

    /// Bytes of a side, as soon as they are read.
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

    /// What the kernel has not been given yet waits again: a step changes how it goes on.
    func takeBack(_ side: ConversationSide) {
        guard operations[side] != nil else { return }
        let rest = SendShortcut(of: self[side]).takeBack()
        operations[side] = nil
        queues[side]?.putBack(rest)
    }

    /// Looks at the ends, and passes on what may go.
    func changed() {
        if isPumping {
            mustPumpAgain = true
            return
        }
        isPumping = true
        repeat {
            mustPumpAgain = false
            carryOutFaultsToCome()
            for side in ConversationSide.allCases { noteEnd(of: side) }
            for side in ConversationSide.allCases { pump(to: side) }
            for side in ConversationSide.allCases { bound(side) }
            closeIfOver()
        } while mustPumpAgain
        isPumping = false
        changes.notify()
        if isOver {
            onOver()
            onOver = {}
        }
    }

    private func noteEnd(of side: ConversationSide) {
        if noted.contains(side) { return }
        if side == .server, case .connectFailed(let error) = server.phase {
            failure = error
            // Who was promised a connection is told that there is none.
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

    // MARK: What goes on

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
                carryOut(end, to: side)
                return
            }
        }
        // An RST does not wait for a receiver that takes nothing.
        if !leg.isIdle, queues[side]?.isCutOff ?? false {
            queues[side]?.abandon()
            carryOut(.reset, to: side)
        }
    }

    /// A side takes nothing any more, though its peer's FIN was all that was read: the other side is told by an RST.
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

    func carryOut(_ end: ForwardEnd, to side: ConversationSide) {
        let leg = self[side]
        switch end {
        case .fin, .halfClose:
            // One that has been reset meanwhile needs no FIN.
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

    /// A side that sends faster than the other one takes it is read no more for a while.
    private func bound(_ side: ConversationSide) {
        let leg = self[side]
        guard leg.phase == .open, leg.readEnd == nil else { return }
        let destination = side.opposite
        let waiting = waiting(to: destination)
        let limit = gate(to: destination) == .open ? Self.mostUnderWay : Connection.receiveLimit
        if waiting >= limit, leg.reading == .atOnce {
            leg.setReading(.stopped)
        } else if waiting < limit / 2 || waiting == 0, leg.reading == .stopped {
            leg.setReading(.atOnce)
            mustPumpAgain = true
        }
    }

    /// Both directions have ended: the sockets are closed.
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

/// Hands what a side's connection reads to the other side, as it is read.
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

/// What the steps of a script do to a proxied connection.
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

    /// - Parameter wanted: not empty.
    package func replace(_ wanted: [UInt8], with replacement: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.replace(wanted, with: replacement, at: .now, by: id) }
    }

    package func insert(_ bytes: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.insert(bytes, by: id) }
    }

    /// A FIN towards a side, behind what is on its way there and without what is held.
    package func end(_ end: ForwardEnd, to side: ConversationSide, by id: Int) {
        if end == .close, queues[side]?.hasEnded ?? false {
            // Its FIN has been sent: it is only closed.
            if self[side].isOpen {
                queues[side]?.noteActed(id)
                carryOut(.close, to: side)
            }
            changed()
            return
        }
        update(side) { $0.finish(end, at: .now, by: id) }
    }

    /// What a step has done to what goes to a side.
    package func effect(of id: Int, to side: ConversationSide) -> ForwardEffect {
        queues[side]?.effect(of: id) ?? ForwardEffect()
    }

    /// An RST towards a side, as soon as it is connected; what waits is dropped.
    package func reset(_ side: ConversationSide, by id: Int) {
        if self[side].phase == .connecting {
            faultsToCome[side] = (.reset, id)
            return
        }
        if self[side].isOpen { queues[side]?.noteActed(id) }
        queues[side]?.abandon()
        self[side].abort()
        changed()
    }

    /// A side's connection is gone without a word.
    package func vanish(_ side: ConversationSide, by id: Int) throws(SystemError) {
        if self[side].phase == .connecting { faultsToCome[side] = (.vanish, id) }
        guard self[side].isOpen else { return }
        try Vanishing(of: self[side]).end()
        queues[side]?.noteActed(id)
        queues[side]?.abandon()
        changed()
    }

    // MARK: States

    /// Bytes that came from the other side and have not gone on to this one.
    package func waiting(to side: ConversationSide) -> Int { (queues[side]?.waiting ?? 0) + self[side].untaken }

    /// Whether bytes or an end are on their way, in a kernel or here, and no step holds them.
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
