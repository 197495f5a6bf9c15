import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeBase
import ProbeSystem
import ProbeWire

/// Members of the context under their old names, until the pieces that use them hold the context themselves.
extension CaseRun {
    var scenario: Scenario { context.scenario }
    var sources: SourceMap { context.sources }
    var settings: RunConfiguration { context.settings }
    var index: StepIndex { context.index }
    var changes: ChangeSignal { context.changes }
    var actors: ActorTable { context.actors }
    var actorOrder: [String] { context.actors.order }
    var waits: [String: String] {
        get { context.actors.waits }
        _modify { yield &context.actors.waits }
    }
    var connections: [ConnectionTable.Entry] { context.connections.entries }
    var discarded: [Connection] { context.connections.discarded }
    var abandoned: AbandonedConnections {
        get { context.connections.abandoned }
        _modify { yield &context.connections.abandoned }
    }
    var fault: Finding? { context.faults.fault }
    var isTearingDown: Bool { context.faults.isTearingDown }
    var inconclusive: [Finding] { context.inconclusive }
    var position: Int { context.progress.position }
    var start: MonotonicTime { context.time.start }
    var hasSubject: Bool { context.hasSubject }
    var lateness: Duration { CaseTime.lateness }

    var wire: CaseCapture {
        get { context.capture }
        _modify { yield &context.capture }
    }
    var openerRevision: Int {
        get { context.starts.revision }
        set { context.starts.noteProgram() }
    }
    var sendSpans: [ObjectIdentifier: SourceSpan] {
        get { context.injected.cuts }
        _modify { yield &context.injected.cuts }
    }
    func mark(_ step: Step, _ text: @autoclosure () -> String, _ place: PacketAnnotation.Place) {
        context.annotate(step, text(), place)
    }
    func markSend(_ step: Step, _ name: String, _ connection: Connection, _ transmission: Transmission) {
        context.annotateSend(step, name, connection, transmission)
    }
    func stoppedReading(_ connection: Connection, _ step: Step) {
        context.injected.addStop(connection, of: context.connections.owner(of: connection), at: step.span)
    }
    func noteStart(_ subject: SubjectActor, at target: EndpointPattern?) async throws(Finding) {
        try await context.noteStart(subject, at: target)
    }
    func noteSettled(_ subject: SubjectActor, at time: MonotonicTime, isConnected: Bool, hasEnded: Bool) {
        context.noteSettled(subject, at: time, isConnected: isConnected, hasEnded: hasEnded)
    }
    func judge(
        _ statement: WireStatement, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        try await WireExecutor(context: context).judge(statement, timing, step, from: time)
    }

    func address(of target: Target, for name: String) throws(Finding) -> SocketAddress {
        try AddressResolver(context: context).address(of: target, for: name)
    }
    func address(of expression: AddressExpression) throws(Finding) -> SocketAddress {
        try AddressResolver(context: context).address(of: expression)
    }
    func listen(_ server: ServerActor) throws(Finding) { try ServerSetup(context: context).listen(server) }
    func rawOption(_ option: SocketOption) throws(Finding) -> RawSocketOption { try context.rawOption(option) }

    func raise(_ finding: Finding) { context.raise(finding) }
    func checkFault() throws(Finding) { try context.checkFault() }
    func note(_ finding: Finding) { context.note(finding) }
    func record(_ kind: TimelineEntry.Kind, at time: MonotonicTime = .now) { context.record(kind, at: time) }
    func elapsed(_ time: MonotonicTime = .now) -> Int64 { context.time.elapsed(time) }
    func text(of span: SourceSpan) -> String { context.text(of: span) }
    func withActors(_ finding: Finding) -> Finding { context.withActors(finding) }
    func scaled(_ duration: Duration) -> Duration { context.scaled(duration) }
    func deadline(_ timing: Timing, from time: MonotonicTime) -> MonotonicTime { context.deadline(timing, from: time) }
    func pause(until deadline: MonotonicTime?) async { await context.pause(until: deadline) }
    func wait<T>(
        until deadline: MonotonicTime, from start: MonotonicTime? = nil, for condition: () throws(Finding) -> T?
    ) async throws(Finding) -> T? {
        try await context.wait(until: deadline, from: start, for: condition)
    }
    func judgeTime(
        _ moment: MonotonicTime, _ what: @autoclosure () -> String, _ deadline: MonotonicTime, _ timing: Timing,
        _ start: MonotonicTime, own: Duration = .zero, isExact: Bool = false
    ) throws(Finding) {
        try context.judgeTime(moment, what(), deadline, timing, start, own: own, isExact: isExact)
    }
    func breaksSilence(
        _ what: String, at moment: MonotonicTime, from start: MonotonicTime, to end: MonotonicTime
    ) throws(Finding) -> Bool {
        try context.breaksSilence(what, at: moment, from: start, to: end)
    }
    func isOver(_ end: MonotonicTime, from start: MonotonicTime) -> Bool { context.isOver(end, from: start) }
    func hasOwnPeer(_ connection: Connection) -> Bool { context.connections.hasOwnPeer(connection) }

    func evaluator(_ framing: Framing? = nil) -> Evaluator { context.evaluator(framing) }
    func bind(_ name: String, _ value: Value) { context.bind(name, value) }
    func set(_ name: String, _ value: Value) { context.set(name, value) }
    func computeConstants() throws(Finding) { try context.computeConstants() }
    func value(of expression: Expression) throws(Finding) -> Value { try context.value(of: expression) }
    func bytes(of expression: Expression) throws(Finding) -> [UInt8] { try context.bytes(of: expression) }
    func bytes(of pieces: [StringPiece], at span: SourceSpan) throws(Finding) -> [UInt8] {
        try context.bytes(of: pieces, at: span)
    }
    func integer(of expression: Expression) throws(Finding) -> Int { try context.integer(of: expression) }
    func regex(_ literal: RegexLiteral) throws(Finding) -> ByteRegex { try context.regex(literal) }
    func pieces(of statement: SendStatement, framing: Framing) throws(Finding) -> [[UInt8]] {
        try context.pieces(of: statement, framing: framing)
    }
    func message(of statement: SendStatement) throws(Finding) -> [UInt8] { try context.message(of: statement) }
    func finding(_ error: EvaluationError) -> Finding { Finding(error) }
}

extension CaseCapture {
    mutating func claimListener(_ pattern: EndpointPattern) { addListener(pattern) }
    mutating func disclaimListener(_ pattern: EndpointPattern) { removeListener(pattern) }
    mutating func claimClient(_ local: SocketAddress, to peer: SocketAddress) { addClient(local, to: peer) }
}
