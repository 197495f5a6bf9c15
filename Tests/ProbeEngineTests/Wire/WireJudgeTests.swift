import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire
import Testing

@testable import ProbeEngine

/// Tests the meaning of the names in a `wire` statement, and the statement's verdict. The input consists of packets; no
/// sockets are used.
struct WireJudgeTests {
    /// A connection from a subject `T` or a program `P` to the server `S` on port 9741, packet by packet.
    private struct Traffic {
        var traffic = CaseTraffic()
        private var time: UInt64 = 1000

        static let syn: UInt8 = 2
        static let synAck: UInt8 = 0x12
        static let ack: UInt8 = 0x10
        static let finAck: UInt8 = 0x11
        static let rst: UInt8 = 4

        /// Adds a packet.
        ///
        /// - Parameter connection: the connection's number; the client's port is 40,000 plus this number.
        mutating func add(
            _ connection: Int, fromClient: Bool = true, _ flags: UInt8, _ sequence: UInt32,
            _ acknowledgment: UInt32 = 0,
            server: UInt16 = 9741, _ payload: String = ""
        ) {
            func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
            func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
            let client = UInt16(40_000 + connection)
            let ports = fromClient ? [client, server] : [server, client]
            let tcp =
                big(ports[0]) + big(ports[1]) + big(sequence) + big(acknowledgment) + [0x50, flags] + big(UInt16(512))
                + [0, 0, 0, 0] + Array(payload.utf8)
            let bytes =
                [0x45, 0] + big(UInt16(20 + tcp.count)) + [0, 7, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1] + tcp
            time += 1
            traffic.add(
                ConnectionPacket(
                    packet: CapturedPacket(time: time, originalLength: bytes.count, bytes: bytes),
                    connection: connection),
                .raw)
        }

        mutating func open(_ connection: Int, server: UInt16 = 9741) {
            add(connection, Self.syn, 100, server: server)
            add(connection, fromClient: false, Self.synAck, 500, 101, server: server)
            add(connection, Self.ack, 101, 501, server: server)
        }
    }

    /// Returns the server `S`, a subject `T -> S` that started at 1000, and, if `hasRival` is set, a second subject.
    private func actors(hasRival: Bool = false) -> ActorTable {
        var actors = ActorTable()
        let server = ServerActor(name: "S", declared: nil)
        server.endpoints = [EndpointPattern(anyAddressPort: 9741)]
        actors.enter("S", .server(server))
        for name in hasRival ? ["T", "U"] : ["T"] {
            let target = Target.actor(Name("S", SourceSpan(file: 0, start: 0, end: 0)))
            let subject = SubjectActor(
                name: name, number: 1, target: target, configuration: SubjectOptions(), isListener: false)
            subject.starts = [SubjectStart(began: 1000, settled: nil, isConnected: false)]
            actors.enter(name, .subject(subject))
        }
        return actors
    }

    private func judge(
        _ traffic: Traffic, _ actors: ActorTable,
        listeners: Set<EndpointPattern> = [EndpointPattern(anyAddressPort: 9741)],
        _ statement: WireStatement<Resolved>
    ) throws -> String {
        let binding = WireBinding(
            openings: traffic.traffic.openings, own: [],
            openers: actors.openers(StartLog(), captureTime: { UInt64($0.nanoseconds) }),
            isListener: { endpoint in listeners.contains { $0.matches(endpoint) } })
        let names = WireNames(
            actors: actors, connections: ConnectionTable(), traffic: traffic.traffic, listeners: listeners,
            binding: binding)
        switch try WireJudge(names: names).judge(statement) {
        case .passed: return "passed"
        case .failed(let failure): return "failed: \(failure.summary)"
        case .inconclusive(let reason): return "inconclusive: \(reason)"
        case .waiting(let failure): return "waiting: \(failure.summary)"
        }
    }

    private func name(_ value: String) -> Name { Name(value, SourceSpan(file: 0, start: 0, end: 0)) }

    @Test func twoNamesSelectTheirConnection() throws {
        var traffic = Traffic()
        traffic.open(1)
        traffic.add(1, Traffic.ack, 101, 501, "hello")
        let bytes = HalfConnectionStatement<Resolved>.bytes(Array("hello".utf8))
        #expect(try judge(traffic, actors(), .halfConnection(from: name("T"), to: name("S"), bytes)) == "passed")
        #expect(
            try judge(traffic, actors(), .fin(from: name("T"), to: name("S"))).hasPrefix("waiting: "))
        traffic.add(1, Traffic.finAck, 106, 501)
        #expect(try judge(traffic, actors(), .fin(from: name("T"), to: name("S"))) == "passed")
        #expect(try judge(traffic, actors(), .closedFirst(by: name("T"))) == "passed")
        #expect(try judge(traffic, actors(), .noReset) == "passed")
        traffic.add(1, fromClient: false, Traffic.rst, 501)
        #expect(try judge(traffic, actors(), .noReset).hasPrefix("failed: "))
    }

    @Test func unseenConnectionIsAwaited() throws {
        #expect(
            try judge(Traffic(), actors(), .fin(from: name("T"), to: name("S")))
                == "waiting: no connection between T and S was seen on the wire")
        #expect(
            try judge(Traffic(), actors(), .noReset) == "waiting: no connection was seen on the wire")
    }

    @Test func ambiguousConnectionIsInconclusive() throws {
        var traffic = Traffic()
        traffic.open(1)
        #expect(
            try judge(traffic, actors(hasRival: true), .fin(from: name("T"), to: name("S")))
                == "inconclusive: the connection 127.0.0.1:40001 -> 127.0.0.1:9741 may belong to T or U: each of these actors could have opened the connection at that time"
        )
        // The name of the server identifies the connection even if it is unknown which subject opened it.
        traffic.add(1, fromClient: false, Traffic.finAck, 501, 101)
        #expect(try judge(traffic, actors(hasRival: true), .fin(from: name("S"), to: nil)) == "passed")
    }

    @Test func ambiguousNameIsAnError() throws {
        var traffic = Traffic()
        traffic.open(1)
        traffic.open(2)
        #expect(throws: Finding.self) {
            try judge(traffic, actors(), .fin(from: name("S"), to: nil))
        }
    }

    @Test func failureTakesPrecedenceOverInconclusive() throws {
        var traffic = Traffic()
        traffic.open(1)
        traffic.add(1, fromClient: false, Traffic.rst, 501)
        traffic.open(2)
        #expect(try judge(traffic, actors(), .noReset).hasPrefix("failed: "))
        // If the server is not part of the run, the connection may belong to another program.
        let verdict = try judge(traffic, actors(hasRival: true), listeners: [], .noReset)
        #expect(verdict.hasPrefix("inconclusive: "))
    }

    @Test func annotationWithoutAConnectionIsAtTheNextPacket() {
        var traffic = Traffic()
        traffic.open(1)
        traffic.add(1, Traffic.ack, 101, 501, "hello")
        let binding = WireBinding(openings: traffic.traffic.openings, own: [], openers: [], isListener: { _ in true })
        let names = WireNames(
            actors: actors(), connections: ConnectionTable(), traffic: traffic.traffic, listeners: [], binding: binding)
        let placement = AnnotationPlacement(
            Array(traffic.traffic.entries.indices), names: names, clock: ClockRelation(offset: 0))
        func annotation(_ text: String, _ time: Int64, _ place: PacketAnnotation.Place) -> PacketAnnotation {
            PacketAnnotation(
                span: SourceSpan(file: 0, start: 0, end: 0), text: text, time: MonotonicTime(nanoseconds: time),
                place: place)
        }
        let comments = placement.comments(
            [
                annotation("any", 1002, .anyPacket), annotation("data", 1001, .subjectData),
                annotation("late", 9999, .anyPacket), annotation("never", 9999, .anySubjectPacket),
            ], SourceMap([SourceFile(path: "a/b.scn", bytes: Array("note \"x\"".utf8))]))
        #expect(comments == [1: ["b.scn:1 any"], 3: ["b.scn:1 data", "b.scn:1 late"]])
    }
}
