import ProbeBase
package import ProbeSystem

/// Takes the questions of one network's programs, by UDP and by TCP, and sends the answers when they are due.
///
/// Confined to its reactor's thread.
package final class NameServer {
    /// A connection of somebody who asks.
    private final class Asker {
        let connection: Connection
        /// How many answers it has yet to get.
        var due = 0

        init(_ connection: Connection) { self.connection = connection }
    }

    /// Says what becomes of a message; nil: it is dropped.
    package typealias Receive = (_ message: [UInt8], NameCarrier) -> NameReply?

    private let reactor: Reactor
    private let receive: Receive
    private let sent: (NameReply) -> Void
    private let socket: DatagramSocket
    private var listener: Listener?
    private var connections: [ObjectIdentifier: Asker] = [:]
    private var timers: [Int: TimerQueue.ID] = [:]
    private var lastTimer = 0
    /// More than a program may ever need: further ones wait.
    private static let mostConnections = 64

    /// Listens at the resolver's address of a network.
    ///
    /// - Parameter sent: hears of each answer, as it leaves.
    package init(
        in network: NetworkNamespace, reactor: Reactor, receive: @escaping Receive, sent: @escaping (NameReply) -> Void
    ) throws(SystemError) {
        (self.reactor, self.receive, self.sent) = (reactor, receive, sent)
        socket = try network.run { () throws(SystemError) in try DatagramSocket(address: NameLookup.resolver) }
        listener = try network.run { () throws(SystemError) in
            try Listener(address: NameLookup.resolver, backlog: 128, options: [])
        }
        try reactor.register(socket.descriptor, for: .read) { [weak self] _ in self?.takeDatagrams() }
        do throws(SystemError) {
            try listener?.watch(on: reactor) { [weak self] in self?.accept() }
        } catch {
            reactor.unregister(socket.descriptor)
            throw error
        }
    }

    /// Takes no more questions, and sends no more answers.
    package func end() {
        reactor.unregister(socket.descriptor)
        listener?.stopWatching(on: reactor)
        listener = nil
        for timer in timers.values { reactor.cancel(timer) }
        timers = [:]
        for asker in connections.values {
            asker.connection.onChange = {}
            asker.connection.abort()
        }
        connections = [:]
    }

    // MARK: UDP

    private func takeDatagrams() {
        // Others are served between: at most so many at a time.
        for _ in 0..<64 {
            guard let (message, asker) = socket.receive() else { return }
            guard let reply = receive(message, .udp) else { continue }
            send(reply) { [weak self] in self?.socket.send(reply.bytes, to: asker) ?? false }
        }
    }

    // MARK: TCP (RFC 7766): each message has its length before it

    private func accept() {
        while connections.count < Self.mostConnections {
            // What can't be accepted, its asker asks for again.
            guard let accepted = try? listener?.accept(),
                let connection = try? Connection(accepted: accepted, reactor: reactor)
            else { return }
            let asker = Asker(connection)
            connections[ObjectIdentifier(asker)] = asker
            connection.onChange = { [weak self, weak asker] in
                guard let self, let asker else { return }
                serve(asker)
            }
            serve(asker)
        }
    }

    private func serve(_ asker: Asker) {
        let connection = asker.connection
        while connection.receiveBuffer.count >= 2 {
            let length = Int(connection.receiveBuffer[0]) << 8 | Int(connection.receiveBuffer[1])
            guard connection.receiveBuffer.count >= 2 + length else { break }
            let message = Array(connection.receiveBuffer.take(2 + length).dropFirst(2))
            guard let reply = receive(message, .tcp), reply.text != nil else { continue }
            asker.due += 1
            send(reply) { [weak self, weak asker] in
                guard let self, let asker else { return false }
                asker.due -= 1
                defer { release(asker) }
                guard asker.connection.isOpen else { return false }
                let count = reply.bytes.count
                asker.connection.send(
                    SendOperation(
                        pieces: [[UInt8(count >> 8 & 0xff), UInt8(count & 0xff)] + reply.bytes], pace: .atOnce,
                        isUrgent: false, now: .now))
                return true
            }
        }
        release(asker)
    }

    /// Closes the connection of an asker that asks no more and has its answers.
    private func release(_ asker: Asker) {
        let connection = asker.connection
        let hasAll = asker.due == 0 && connection.isIdle
        guard connections[ObjectIdentifier(asker)] != nil, !connection.isOpen || connection.readEnd != nil && hasAll
        else { return }
        connection.onChange = {}
        if connection.close() > 0 { connection.abort() }
        connections[ObjectIdentifier(asker)] = nil
        accept()
    }

    // MARK: Answers

    private func send(_ reply: NameReply, _ transmit: @escaping () -> Bool) {
        guard reply.text != nil else { return }
        let sent = sent
        if reply.due <= .now {
            if transmit() { sent(reply) }
            return
        }
        lastTimer += 1
        let number = lastTimer
        timers[number] = reactor.schedule(at: reply.due) { [weak self] in
            self?.timers[number] = nil
            if transmit() { sent(reply) }
        }
    }
}
