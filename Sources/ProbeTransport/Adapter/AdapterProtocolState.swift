import ProbeSystem

/// The harness's side of the adapter protocol, without I/O. It decides whether a message is allowed, and which case the
/// message belongs to.
///
/// Each case uses its own connection numbers. In the adapter protocol, connections have numbers that are unique in the
/// adapter's process.
struct AdapterProtocolState {
    enum Outcome: Equatable {
        case ready(AdapterHello)
        case reply(id: Int, SubjectReply)
        /// A report for the current case, with the case's own connection number.
        case report(connection: Int, SubjectReport.Event)
        /// A machine error has ended a connection, or prevented it from being established.
        case machineError(connection: Int, MachineError, detail: String?)
        case refusedFor(id: Int, MachineError, code: String)
        /// A message about a connection that the harness stopped at the end of an earlier case. It is ignored.
        case stale
        /// A report about a connection that had already stopped during an earlier case. Cases are numbered from 0.
        case late(caseNumber: Int, connection: Int, SubjectReport.Event)
    }

    /// The maximum numbers of events and bytes for one case. A program that exceeds a limit fails.
    struct Budget: Equatable {
        var events = 100_000
        var bytes = 64 << 20
    }

    /// The first connection number that the adapter assigns to accepted connections.
    static let firstAccepted = 1_000_000

    private let budget: Budget
    private var left: Budget
    private(set) var hello: AdapterHello?
    private var nextID = 1
    /// The ops that have not been answered yet, oldest first.
    private(set) var pending: [(id: Int, name: String, requiresPort: Bool)] = []
    /// The last connection number of the earlier cases.
    private var base = 0
    /// The last connection number of each earlier case.
    private var lastNumbers: [Int] = []
    private var used: Set<Int> = []
    /// The connections of this case that were started or accepted and have not reported `stop`.
    private var open: Set<Int> = []
    /// The connections of this case that were asked to start TLS.
    private var securing: Set<Int> = []
    /// The machine errors (``MachineError``) that the case may have provoked, keyed by connection number.
    private var provocable: [Int: Set<MachineError>] = [:]
    /// The connections that earlier cases left open and that have not reported `stop` yet.
    private var leftOpen: Set<Int> = []
    /// The case of each connection number that the adapter has ever assigned. The numbers of this case are also in
    /// `accepted`.
    private var everAccepted: [Int: Int] = [:]
    private var accepted: Set<Int> = []

    init(budget: Budget = Budget()) {
        self.budget = budget
        left = budget
    }

    /// Whether a new process must be started, because the connection numbers are almost used up or too many accepted
    /// connections must be remembered.
    var isExhausted: Bool { base > 500_000 || everAccepted.count > 100_000 }

    // MARK: Cases

    /// Begins a case with a fresh budget of events and bytes.
    mutating func beginCase() {
        left = budget
    }

    /// Ends the case. Messages about its connections are no longer reported.
    ///
    /// - Returns: the lines that stop the connections that the case left open.
    mutating func endCase() -> [UInt8] {
        var lines: [UInt8] = []
        for connection in open.sorted() { lines += request(.stop, number: connection).line }
        base = max(base, used.filter { $0 < AdapterProtocolState.firstAccepted }.max() ?? base)
        lastNumbers.append(base)
        leftOpen.formUnion(open)
        used = []
        open = []
        securing = []
        provocable = [:]
        accepted = []
        return lines
    }

    // MARK: Ops

    /// Returns the request for an operation; `nil` if the case has too many connections.
    mutating func request(_ operation: SubjectOperation, on connection: Int) -> (id: Int, line: [UInt8])? {
        let number = accepted.contains(connection) ? connection : base + connection
        guard number > 0, number < AdapterProtocolState.firstAccepted || accepted.contains(number) else { return nil }
        used.insert(number)
        switch operation {
        case .connect(let configuration):
            open.insert(number)
            if configuration.tls != nil { securing.insert(number) }
            provocable[number] = configuration.provocable
        case .listen: open.insert(number)
        case .startTLS: securing.insert(number)
        case .send, .ping, .close, .plain, .framing, .read, .stop: break
        }
        return request(operation, number: number)
    }

    private mutating func request(_ operation: SubjectOperation, number: Int) -> (id: Int, line: [UInt8]) {
        // An adapter that uses version 1.0 may refuse fields that were added later.
        let operation = hello?.minor == 0 ? operation.withoutReads : operation
        let request = AdapterRequest(id: nextID, connection: number, operation: operation)
        nextID += 1
        pending.append((request.id, operation.word, operation.requiresPort))
        return (request.id, request.encoded())
    }

    // MARK: Messages

    /// Processes a message from the adapter.
    ///
    /// - Throws: an error that states, as a noun phrase, what makes the message invalid.
    mutating func receive(_ message: AdapterMessage) throws(AdapterMessageError) -> Outcome {
        guard hello != nil else {
            guard case .hello(let hello) = message else { throw AdapterMessageError("a message before its `hello`") }
            self.hello = hello
            return .ready(hello)
        }
        switch message {
        case .hello: throw AdapterMessageError("a second `hello`")
        case .withMachineError(let message, let word): return try withMachineError(message, word)
        case .done(let id, let error, let port): return try done(id, error, port)
        case .accept(let connection, let listener): return try accept(connection, listener)
        case .event(let connection, let event):
            try spend(message.payloadSize)
            if used.contains(connection) || accepted.contains(connection) {
                if case .stopped = event { open.remove(connection) }
                if case .secured = event, !securing.contains(connection) {
                    throw AdapterMessageError(
                        "a `secured` for connection \(connection), which was never asked to start TLS")
                }
                return .report(connection: caseNumber(connection), event)
            }
            if let number = earlierCase(of: connection) { return late(event, connection, number) }
            throw AdapterMessageError("an event about connection \(connection), which was never used")
        }
    }

    /// Processes a message that names a machine error. If a connection or an op fails because of a machine error, the
    /// failure is not evidence against the transport.
    private mutating func withMachineError(_ message: AdapterMessage, _ word: String) throws(AdapterMessageError)
        -> Outcome
    {
        guard let hello, hello.minor >= AdapterHello.machineVersion else { return try receive(message) }
        guard let fault = MachineError(rawValue: word) else {
            let known = MachineError.allCases.map(\.rawValue).joined(separator: " ")
            throw AdapterMessageError("an unknown `machine`; known errors: \(known)")
        }
        let outcome = try receive(message)
        switch (message, outcome) {
        case (.event(let number, let event), .report(let connection, _))
        where provocable[number]?.contains(fault) != true:
            switch event {
            case .stopped(_, let detail), .attemptFailed(_, let detail), .lost(_, _, let detail):
                return .machineError(connection: connection, fault, detail: detail)
            default: return outcome
            }
        case (_, .reply(let id, .refused(let code))): return .refusedFor(id: id, fault, code: code)
        default: return outcome
        }
    }

    private mutating func done(_ id: Int, _ error: String?, _ port: UInt16?) throws(AdapterMessageError) -> Outcome {
        guard let first = pending.first else {
            throw AdapterMessageError("a `done` for op \(id), but no op was pending")
        }
        guard first.id == id else {
            throw AdapterMessageError(
                pending.contains { $0.id == id }
                    ? "a `done` for op \(id) before the one for op \(first.id) (\(first.name)); ops are answered in order"
                    : "a `done` for op \(id), which was never sent or has already been answered")
        }
        pending.removeFirst()
        if let error { return .reply(id: id, .refused(code: error)) }
        if first.requiresPort && port == nil { throw AdapterMessageError("a `done` for `listen` without a `port`") }
        return .reply(id: id, .done(port: port))
    }

    private mutating func accept(_ connection: Int, _ listener: Int) throws(AdapterMessageError) -> Outcome {
        try spend(0)
        guard connection >= AdapterProtocolState.firstAccepted else {
            throw AdapterMessageError(
                "an `accept` with connection number \(connection); the numbers begin at \(AdapterProtocolState.firstAccepted)"
            )
        }
        guard everAccepted[connection] == nil else {
            throw AdapterMessageError("an `accept` that reused connection number \(connection)")
        }
        if used.contains(listener) {
            everAccepted[connection] = lastNumbers.count
            accepted.insert(connection)
            open.insert(connection)
            return .report(connection: caseNumber(listener), .accepted(connection: connection))
        }
        if let number = earlierCase(of: listener) {
            // The accepted connection belongs to the earlier case that started its listener, so it is not reported to
            // the current case.
            everAccepted[connection] = number
            leftOpen.insert(connection)
            return late(.accepted(connection: connection), listener, number)
        }
        throw AdapterMessageError("an `accept` for connection \(listener), which was never used")
    }

    /// Returns the number of the earlier case that a connection belonged to; `nil` if the connection number was never
    /// used.
    private func earlierCase(of connection: Int) -> Int? {
        if let number = everAccepted[connection] { return number }
        guard connection > 0, connection <= base else { return nil }
        var (low, high) = (0, lastNumbers.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if lastNumbers[middle] >= connection { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func late(_ event: SubjectReport.Event, _ connection: Int, _ number: Int) -> Outcome {
        if leftOpen.contains(connection) {
            if case .stopped = event { leftOpen.remove(connection) }
            return .stale
        }
        let isChosen = connection >= AdapterProtocolState.firstAccepted
        let before = number > 0 ? lastNumbers[number - 1] : 0
        return .late(caseNumber: number, connection: isChosen ? connection : connection - before, event)
    }

    private func caseNumber(_ connection: Int) -> Int {
        connection < AdapterProtocolState.firstAccepted ? connection - base : connection
    }

    private mutating func spend(_ bytes: Int) throws(AdapterMessageError) {
        left.events -= 1
        left.bytes -= bytes
        if left.events < 0 { throw AdapterMessageError("more than \(budget.events) events in one case") }
        if left.bytes < 0 { throw AdapterMessageError("more than \(budget.bytes >> 20) MiB of data in one case") }
    }
}
