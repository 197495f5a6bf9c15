import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeSystem
import ProbeTransport
import Testing

@testable import ProbeEngine

/// Whatever resource the machine lacks, and wherever a case detects the shortage, the result is an error rather than a
/// failure, and the error states how much of each resource is left.
struct MachineFaultTests {
    /// An operation in which a transport detects a shortage.
    enum Place: CaseIterable {
        case start, connecting, open, send, listening, accepting

        var script: String {
            switch self {
            case .start, .connecting: "server S\nsubject T -> S\nT start\nT expect stopped other"
            case .open: "server S\nsubject T -> S\nT start\nS accept\nT expect started\nT expect stopped other"
            case .send: "server S\nsubject T -> S\nT start\nS accept\nT send line \"x\"\nS expect line \"x\""
            case .listening, .accepting: "subject T listens\nclient C -> T\nT start\nC connect\nT expect accept as A"
            }
        }
    }

    @Test(arguments: MachineError.shortages, Place.allCases)
    func transportIsNotBlamedForAShortage(_ fault: MachineError, _ place: Place) async throws {
        try await Scene(
            "\(fault) at \(place)", .error,
            says: [
                "the subject encountered a machine error: \(fault.rawValue), \(fault.reason)", "descriptors left",
                "from which the kernel chooses", fault.advice,
            ], place.script
        ).verify(subject: InProcessSource(ShortFactory(fault: fault, place: place), names: SubjectNames()))
    }

    /// The arguments are the reason why a member fails, and a step that judges the crowd (or no step).
    @Test(
        arguments: MachineError.shortages.map(\.reason) + [
            "TLS: \(MachineError.ENOBUFS.reason)", CrowdSnapshot.Obstacle.noPort,
        ], ["", "W expect failed 0", "W expect failed <= 5", "W expect connected 5 within 60ms", "W expect failed 5"])
    func membersAreNotBlamedForAShortage(_ reason: String, _ step: String) async throws {
        let program = CrowdTests.worker(CrowdTests.snapshot(connected: 4, alive: 4, failed: 1, reason: reason))
        let result = try await CrowdTests.run("W start { connect }\n\(step)", program)
        let texts = CrowdTests.texts(of: result)
        #expect(result.verdict == .error, "\(texts)")
        #expect(texts.contains("members of W encountered a machine error: E"), "\(texts)")
        #expect(texts.contains("1 member failed at line 5 (connect): "), "\(texts)")
    }

    /// If the reason why a member failed isn't exactly the text that describes a shortage, a peer may have caused the
    /// failure, so the case fails.
    @Test(arguments: ["the line was \"Too many open files\"", "refused", "reset by the peer", "Too many open files!"])
    func otherMemberFailuresFailTheCase(_ reason: String) async throws {
        let program = CrowdTests.worker(CrowdTests.snapshot(connected: 4, alive: 4, failed: 1, reason: reason))
        let result = try await CrowdTests.run("W start { connect }\nW expect failed 0", program)
        #expect(result.verdict == .failed, "\(CrowdTests.texts(of: result))")
    }

    /// If one of the reasons why members fail is a machine error, that reason is kept, however many members fail for
    /// other reasons.
    @Test func obstacleIsKeptAmongOtherReasons() {
        var merged = CrowdSnapshot()
        for index in 0..<100 {
            var one = CrowdSnapshot()
            one.failures = [.init(instruction: 0, reason: "the line was \"\(index)\"", count: 1)]
            merged.merge(one)
        }
        #expect(merged.obstacle == nil)
        var last = CrowdSnapshot()
        last.failures = [.init(instruction: 0, reason: MachineError.EMFILE.reason, count: 1)]
        merged.merge(last)
        #expect(merged.obstacle == .machine(.EMFILE))
    }
}

/// Creates transports that behave as if the machine lacked a resource.
private struct ShortFactory: TransportFactory {
    let fault: MachineError
    let place: MachineFaultTests.Place
    var name: String { "short" }
    var capabilities: Set<TransportCapability> { BSDTransportFactory().capabilities }

    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        let (fault, place) = (fault, place)
        let inner = try BSDTransportFactory().makeTransport(configuration) { event in
            if case .started = event, place == .connecting {
                handler(.stopped(.other, detail: "connect: \(fault.reason)"))
            } else if case .started = event, place == .open {
                handler(event)
                handler(.stopped(.other, detail: "read(descriptor:): gone (errno: \(fault.code))"))
            } else if place != .connecting, place != .open {
                handler(event)
            }
        }
        return ShortTransport(inner, fault, place)
    }

    func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        if place == .listening { throw .other("127.0.0.1: \(fault.reason)") }
        let fault = fault
        return try BSDTransportFactory().makeListener(
            configuration,
            handler: { event in
                if case .accepted = event { handler(.stopped(.other, detail: fault.reason)) }
            }, accepted: { _ in { _ in } })
    }
}

private final class ShortTransport: Transport {
    private let inner: any Transport
    private let fault: MachineError
    private let place: MachineFaultTests.Place

    init(_ inner: any Transport, _ fault: MachineError, _ place: MachineFaultTests.Place) {
        (self.inner, self.fault, self.place) = (inner, fault, place)
    }

    func start() throws(TransportError) {
        if place == .start { throw .other("socket: \(fault.reason)") }
        try inner.start()
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        if place == .send { throw .other("write: \(fault.reason)") }
        try inner.send(message)
    }

    func halfClose() throws(TransportError) { try inner.halfClose() }
    func stopReading() throws(TransportError) { try inner.stopReading() }
    func resumeReading() throws(TransportError) { try inner.resumeReading() }
    func reset() throws(TransportError) { try inner.reset() }
    func setFraming(_ framing: TransportFraming) throws(TransportError) { try inner.setFraming(framing) }
    func stop() throws(TransportError) { try inner.stop() }
}
