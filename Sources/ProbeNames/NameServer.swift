import ProbeBase
package import ProbeSystem

/// Receives questions from the programs in one network over UDP and TCP, and sends the answers when they are due.
///
/// Confined to its reactor's thread.
package final class NameServer {
    /// A client of the resolver that is connected over TCP.
    private final class NameClient {
        let connection: Connection
        /// The number of answers to the client that have not been sent yet.
        var due = 0

        init(_ connection: Connection) { self.connection = connection }
    }

    /// Returns the reply to a message, or `nil` to drop the message.
    package typealias Receive = (_ message: [UInt8], NameCarrier) -> NameReply?

    private let reactor: Reactor
    private let receive: Receive
    private let sent: (NameReply) -> Void
    private let socket: DatagramSocket
    private var listener: Listener?
    private var connections: [ObjectIdentifier: NameClient] = [:]
    private var timers: [Int: TimerQueue.ID] = [:]
    private var lastTimer = 0
    /// The maximum number of open connections, which is more than any program should need. Further connections are not
    /// accepted until an open connection has ended.
    private static let maxConnections = 64
    /// The maximum number of answers that may be waiting for their due time. Further datagrams are dropped, as an
    /// overloaded resolver would do.
    private static let maxDue = 16_384
    /// The maximum numbers of answers for each connection: answers that are waiting for their due time, and answers
    /// that the client has not read. When either number is reached, nothing is read from the connection, so further
    /// questions wait in the kernel.
    private static let maxPerConnection = (due: 1024, unsent: 64)
    /// Called once, when a question is first dropped or delayed because too many answers are pending.
    private let overloaded: (_ what: String) -> Void
    private var wasOverloaded = false

    /// Starts listening at a network's resolver address.
    ///
    /// - Parameters:
    ///   - sent: called with each answer when it is sent.
    ///   - overloaded: called once, with a clause for a message, when a question is first dropped or delayed because
    ///     too many answers are pending.
    package init(
        in network: NetworkNamespace, reactor: Reactor, receive: @escaping Receive,
        sent: @escaping (NameReply) -> Void, overloaded: @escaping (_ what: String) -> Void
    ) throws(SystemError) {
        (self.reactor, self.receive, self.sent, self.overloaded) = (reactor, receive, sent, overloaded)
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

    /// Stops receiving questions and sending answers.
    package func end() {
        reactor.unregister(socket.descriptor)
        listener?.stopWatching(on: reactor)
        listener = nil
        for timer in timers.values { reactor.cancel(timer) }
        timers = [:]
        for nameClient in connections.values {
            nameClient.connection.onChange = {}
            nameClient.connection.abort()
        }
        connections = [:]
    }

    // MARK: UDP

    private func takeDatagrams() {
        // At most 64 datagrams are read per call, so that the reactor can also serve other descriptors.
        for _ in 0..<64 {
            guard let (message, nameClient) = socket.receive() else { return }
            if timers.count >= Self.maxDue {
                overload("was dropped: \(Self.maxDue) answers are already pending")
                continue
            }
            guard let reply = receive(message, .udp) else { continue }
            send(reply) { [weak self] in self?.socket.send(reply.bytes, to: nameClient) ?? false }
        }
    }

    private func overload(_ what: String) {
        if !wasOverloaded { overloaded(what) }
        wasOverloaded = true
    }

    // MARK: TCP, with a length before each message (RFC 7766)

    private func accept() {
        while connections.count < Self.maxConnections {
            // If a connection can't be accepted, its client tries again.
            guard let accepted = try? listener?.accept(),
                let connection = try? Connection(accepted: accepted, reactor: reactor)
            else { return }
            let nameClient = NameClient(connection)
            connections[ObjectIdentifier(nameClient)] = nameClient
            connection.onChange = { [weak self, weak nameClient] in
                guard let self, let nameClient else { return }
                serve(nameClient)
            }
            serve(nameClient)
        }
        if listener?.hasPending == true { overload("was delayed: \(Self.maxConnections) connections are open") }
    }

    private func serve(_ nameClient: NameClient) {
        let connection = nameClient.connection
        while connection.receiveBuffer.count >= 2, !mustWait(nameClient) {
            let length = Int(connection.receiveBuffer[0]) << 8 | Int(connection.receiveBuffer[1])
            guard connection.receiveBuffer.count >= 2 + length else { break }
            let message = Array(connection.receiveBuffer.take(2 + length).dropFirst(2))
            guard let reply = receive(message, .tcp), reply.text != nil else { continue }
            nameClient.due += 1
            send(reply) { [weak nameClient] in
                guard let nameClient else { return false }
                nameClient.due -= 1
                guard nameClient.connection.isOpen else { return false }
                let count = reply.bytes.count
                // When the answer has been sent, the connection's change handler serves the client again.
                nameClient.connection.send(
                    SendOperation(
                        pieces: [[UInt8(count >> 8 & 0xff), UInt8(count & 0xff)] + reply.bytes],
                        isUrgent: false, now: .now))
                return true
            }
        }
        bound(connection, isFull: mustWait(nameClient))
        release(nameClient)
    }

    /// Returns whether the client's further questions must wait until more of its earlier answers have been sent or
    /// read.
    private func mustWait(_ nameClient: NameClient) -> Bool {
        nameClient.due >= Self.maxPerConnection.due
            || nameClient.connection.unfinishedSends >= Self.maxPerConnection.unsent
    }

    /// Stops reading from a client that does not read its answers, so that its questions wait in the kernel.
    private func bound(_ connection: Connection, isFull: Bool) {
        guard connection.isOpen, connection.readEnd == nil else { return }
        if isFull, connection.reading == .atOnce {
            connection.setReading(.stopped)
        } else if !isFull, connection.reading == .stopped {
            connection.setReading(.atOnce)
        }
    }

    /// Closes the connection of a client that will send no more questions and has received all its answers.
    private func release(_ nameClient: NameClient) {
        let connection = nameClient.connection
        let hasAll = nameClient.due == 0 && connection.isIdle
        guard connections[ObjectIdentifier(nameClient)] != nil,
            !connection.isOpen || connection.readEnd != nil && hasAll
        else { return }
        connection.onChange = {}
        if connection.close() > 0 { connection.abort() }
        connections[ObjectIdentifier(nameClient)] = nil
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
