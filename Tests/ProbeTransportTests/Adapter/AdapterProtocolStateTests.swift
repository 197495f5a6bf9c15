import ProbeBase
import Testing

@testable import ProbeTransport

struct AdapterProtocolStateTests {
    private func ready(_ budget: AdapterProtocolState.Budget = .init()) throws -> AdapterProtocolState {
        var conversation = AdapterProtocolState(budget: budget)
        let hello = AdapterHello(name: "a", version: nil, capabilities: [])
        #expect(try conversation.receive(.hello(hello)) == .ready(hello))
        conversation.beginCase()
        return conversation
    }

    private let target = TransportConfiguration(host: "127.0.0.1", port: 1)

    /// Returns the connection number in a request, which is unique in the adapter's process.
    private func number(_ line: [UInt8]) throws -> Int { try AdapterRequest.read(line).connection }

    @Test func nothingPrecedesHello() {
        var conversation = AdapterProtocolState()
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: 1, .started)) }
    }

    @Test func secondHelloIsRefused() throws {
        var conversation = try ready()
        #expect(throws: AdapterMessageError("a second `hello`")) {
            try conversation.receive(.hello(AdapterHello(name: "a", version: nil, capabilities: [])))
        }
    }

    @Test func opsAreAnsweredInOrder() throws {
        var conversation = try ready()
        let first = try conversation.op(.connect(target), on: 1)
        let second = try conversation.op(.send([1]), on: 1)
        var hasty = conversation
        #expect(throws: AdapterMessageError.self) { try hasty.receive(.done(id: second.id, error: nil, port: nil)) }
        #expect(
            try conversation.receive(.done(id: first.id, error: nil, port: nil))
                == .reply(id: first.id, .done(port: nil)))
        #expect(throws: AdapterMessageError.self) {
            try conversation.receive(.done(id: first.id, error: nil, port: nil))
        }
        #expect(
            try conversation.receive(.done(id: second.id, error: "stopped", port: nil))
                == .reply(id: second.id, .refused(code: "stopped")))
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.done(id: 99, error: nil, port: nil)) }
    }

    @Test func listenerMustReportItsPort() throws {
        var conversation = try ready()
        let op = try conversation.op(.listen(target), on: 1)
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.done(id: op.id, error: nil, port: nil)) }
    }

    @Test func securedNeedsATLSRequest() throws {
        let tls = TransportTLS(authorities: "ca.pem", name: "localhost")
        var secured = target
        secured.tls = tls
        let event = SubjectReport.Event.secured(.tls13, protocol: nil)
        var conversation = try ready()
        _ = try conversation.op(.connect(target), on: 1)
        _ = try conversation.op(.connect(secured), on: 2)
        var hasty = conversation
        #expect(
            throws: AdapterMessageError("a `secured` for connection 1, which was never asked to start TLS")
        ) { try hasty.receive(.event(connection: 1, event)) }
        #expect(try conversation.receive(.event(connection: 2, event)) == .report(connection: 2, event))
        _ = try conversation.op(.startTLS(tls), on: 1)
        #expect(try conversation.receive(.event(connection: 1, event)) == .report(connection: 1, event))
        _ = conversation.endCase()
        conversation.beginCase()
        let number = try number(try conversation.op(.connect(target), on: 1).line)
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: number, event)) }
    }

    @Test func connectionNumbersAreNeverReused() throws {
        var conversation = try ready()
        var seen: Set<Int> = []
        for _ in 0..<3 {
            conversation.beginCase()
            for connection in [1, 2] {
                let op = try conversation.op(.connect(target), on: connection)
                #expect(seen.insert(try number(op.line)).inserted)
                #expect(
                    try conversation.receive(.event(connection: try number(op.line), .started))
                        == .report(connection: connection, .started))
            }
            _ = conversation.endCase()
        }
    }

    @Test func eventsOfAnEarlierCaseAreStale() throws {
        var conversation = try ready()
        _ = conversation.request(.connect(target), on: 1)
        let left = conversation.endCase()
        #expect(try AdapterRequest.read(left).operation.word == "stop")
        conversation.beginCase()
        #expect(try conversation.receive(.event(connection: 1, .line([1]))) == .stale)
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: 2, .started)) }
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: 0, .started)) }
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: -1, .started)) }
    }

    @Test func adapterNumbersAcceptedConnections() throws {
        var conversation = try ready()
        _ = conversation.request(.listen(target), on: 1)
        #expect(
            try conversation.receive(.accept(connection: 1_000_000, listener: 1))
                == .report(connection: 1, .accepted(connection: 1_000_000)))
        #expect(
            try conversation.receive(.event(connection: 1_000_000, .started))
                == .report(connection: 1_000_000, .started))
        let op = try conversation.op(.send([1]), on: 1_000_000)
        #expect(try number(op.line) == 1_000_000)
        for (connection, listener) in [(1_000_000, 1), (999_999, 1), (1_000_001, 2)] {
            var other = conversation
            #expect(throws: AdapterMessageError.self) {
                try other.receive(.accept(connection: connection, listener: listener))
            }
        }
        #expect(throws: AdapterMessageError.self) { try conversation.receive(.event(connection: 1_000_005, .started)) }
        _ = conversation.endCase()
        conversation.beginCase()
        #expect(try conversation.receive(.event(connection: 1_000_000, .line([]))) == .stale)
        #expect(try conversation.receive(.accept(connection: 1_000_002, listener: 1)) == .stale)
        #expect(conversation.request(.send([1]), on: 1_000_000) == nil)
    }

    /// An event after `stop` is the transport's mistake. It is passed on, because the engine judges it.
    @Test func eventsAfterStopArePassedOn() throws {
        var conversation = try ready()
        _ = conversation.request(.connect(target), on: 1)
        let stop = SubjectReport.Event.stopped(.eof, detail: nil)
        for event in [stop, .line([1]), stop] {
            #expect(try conversation.receive(.event(connection: 1, event)) == .report(connection: 1, event))
        }
        #expect(conversation.endCase().isEmpty, "a stopped connection is not asked to stop")
    }

    /// An event about a connection that had already stopped in an earlier case belongs to that case, however many cases
    /// have run since.
    @Test func eventsAfterTheStopOfAnEarlierCaseAreStale() throws {
        var conversation = try ready()
        let stop = SubjectReport.Event.stopped(.eof, detail: nil)
        for _ in 0..<3 {
            conversation.beginCase()
            for connection in [1, 2] {
                let op = try conversation.op(.connect(target), on: connection)
                _ = try conversation.receive(.event(connection: try number(op.line), stop))
            }
            _ = conversation.endCase()
        }
        // A case without a connection is followed by a case that leaves its connection open.
        _ = conversation.endCase()
        conversation.beginCase()
        _ = conversation.request(.connect(target), on: 1)
        _ = conversation.endCase()
        conversation.beginCase()
        for (number, expected) in [(1, (0, 1)), (2, (0, 2)), (4, (1, 2)), (5, (2, 1)), (6, (2, 2))] {
            #expect(
                try conversation.receive(.event(connection: number, stop))
                    == .late(caseNumber: expected.0, connection: expected.1, stop))
        }
        #expect(try conversation.receive(.event(connection: 7, .line([1]))) == .stale)
        #expect(try conversation.receive(.event(connection: 7, stop)) == .stale)
        #expect(
            try conversation.receive(.event(connection: 7, stop)) == .late(caseNumber: 4, connection: 1, stop))
    }

    /// A connection that a listener accepts after the listener's case has ended belongs to that case, whether or not
    /// another case is running by then.
    @Test(arguments: [0, 1, 3]) func lateAcceptBelongsToItsListenersCase(casesSince: Int) throws {
        var conversation = try ready()
        let stop = SubjectReport.Event.stopped(.eof, detail: nil)
        let op = try conversation.op(.listen(target), on: 1)
        #expect(try number(op.line) == 1)
        _ = conversation.endCase()
        for _ in 0..<casesSince {
            conversation.beginCase()
            _ = conversation.endCase()
        }
        #expect(try conversation.receive(.accept(connection: 1_000_000, listener: 1)) == .stale)
        #expect(try conversation.receive(.event(connection: 1_000_000, stop)) == .stale)
        #expect(
            try conversation.receive(.event(connection: 1_000_000, stop))
                == .late(caseNumber: 0, connection: 1_000_000, stop))
    }

    @Test func acceptAfterTheListenersStopIsStale() throws {
        var conversation = try ready()
        let stop = SubjectReport.Event.stopped(.stopped, detail: nil)
        _ = conversation.request(.listen(target), on: 1)
        _ = try conversation.receive(.accept(connection: 1_000_000, listener: 1))
        _ = try conversation.receive(.event(connection: 1_000_000, stop))
        _ = try conversation.receive(.event(connection: 1, stop))
        _ = conversation.endCase()
        conversation.beginCase()
        #expect(
            try conversation.receive(.event(connection: 1_000_000, stop))
                == .late(caseNumber: 0, connection: 1_000_000, stop))
        #expect(
            try conversation.receive(.accept(connection: 1_000_001, listener: 1))
                == .late(caseNumber: 0, connection: 1, .accepted(connection: 1_000_001)))
    }

    @Test func floodsAreRefused() throws {
        var conversation = try ready(AdapterProtocolState.Budget(events: 3, bytes: 10))
        _ = conversation.request(.connect(target), on: 1)
        for _ in 0..<3 { _ = try conversation.receive(.event(connection: 1, .sent(1))) }
        #expect(throws: AdapterMessageError("more than 3 events in one case")) {
            try conversation.receive(.event(connection: 1, .sent(1)))
        }
        conversation.beginCase()
        #expect(throws: AdapterMessageError.self) {
            try conversation.receive(.event(connection: 1, .data([UInt8](repeating: 0, count: 11))))
        }
    }
}

extension AdapterProtocolState {
    /// Returns the id and the line of a request for an operation. The test fails if no request can be made.
    fileprivate mutating func op(_ operation: SubjectOperation, on connection: Int) throws -> (id: Int, line: [UInt8]) {
        let made = request(operation, on: connection)
        return try #require(made)
    }
}
