import ProbeSystem
import Testing

@testable import ProbeTransport

/// Tests the errors of adapter protocol 1.4 that end connections because the machine lacks a resource.
struct AdapterMachineTests {
    private static let inside = TransportConfiguration(host: "127.0.0.1", port: 1)
    private static let events: [SubjectReport.Event] = [
        .stopped(.other, detail: "d"), .attemptFailed(.other, detail: "d"), .lost(.other, dropped: 0, detail: "d"),
    ]

    private func begun(minor: Int, _ configuration: TransportConfiguration = inside) throws -> AdapterProtocolState {
        var state = AdapterProtocolState()
        var hello = AdapterHello(name: "a", version: nil, capabilities: [])
        hello.minor = minor
        _ = try state.receive(.hello(hello))
        state.beginCase()
        let op = state.request(.connect(configuration), on: 1)
        let request = try #require(op)
        _ = try state.receive(.done(id: request.id, error: nil, port: nil))
        return state
    }

    @Test(arguments: MachineError.allCases, events)
    func everyErrnoIsReportedWithEveryEvent(_ fault: MachineError, _ event: SubjectReport.Event) throws {
        let message = AdapterMessage.withMachineError(.event(connection: 1, event), fault.rawValue)
        let line = Array(message.encoded().dropLast())
        #expect(try AdapterMessage(line: line.span) == message)
        var newer = try begun(minor: 4)
        #expect(try newer.receive(message) == .machineError(connection: 1, fault, detail: "d"))
        var older = try begun(minor: 3)
        #expect(try older.receive(message) == .report(connection: 1, event))
    }

    @Test(arguments: MachineError.allCases)
    func refusedListenIsAMachineError(_ fault: MachineError) throws {
        for (minor, isTrouble) in [(3, false), (4, true)] {
            var state = try begun(minor: minor)
            let op = state.request(.listen(Self.inside), on: 2)
            let id = try #require(op).id
            let message = AdapterMessage.withMachineError(.done(id: id, error: "e", port: nil), fault.rawValue)
            let line = Array(message.encoded().dropLast())
            #expect(try AdapterMessage(line: line.span) == message)
            #expect(
                try state.receive(message)
                    == (isTrouble ? .refusedFor(id: id, fault, code: "e") : .reply(id: id, .refused(code: "e"))))
        }
    }

    /// A case can provoke the errors for an unreachable host and for an address that this machine does not have, but
    /// not the error for a resource shortage.
    @Test(arguments: MachineError.allCases)
    func provokedErrorsRemainEvents(_ fault: MachineError) throws {
        let places: [(host: String, local: String?, isProvoked: Bool)] = [
            ("192.0.2.1", nil, !MachineError.shortages.contains(fault)),
            ("192.0.2.1", "127.0.0.1", !MachineError.shortages.contains(fault)),
            ("127.0.0.1", "192.0.2.1", fault == .EADDRNOTAVAIL || !MachineError.shortages.contains(fault)),
        ]
        for (host, local, isProvoked) in places {
            var configuration = TransportConfiguration(host: host, port: 1)
            configuration.localHost = local
            var state = try begun(minor: 4, configuration)
            #expect(
                try state.receive(.withMachineError(.event(connection: 1, Self.events[0]), fault.rawValue))
                    == (isProvoked
                        ? .report(connection: 1, Self.events[0]) : .machineError(connection: 1, fault, detail: "d")))
        }
    }

    @Test func unknownNameIsAnError() throws {
        var newer = try begun(minor: 4)
        #expect(throws: AdapterMessageError.self) {
            try newer.receive(.withMachineError(.event(connection: 1, Self.events[0]), "EWHATEVER"))
        }
        var older = try begun(minor: 3)
        #expect(
            try older.receive(.withMachineError(.event(connection: 1, Self.events[0]), "EWHATEVER"))
                == .report(connection: 1, Self.events[0]))
    }

    @Test func nonStringNameIsIgnored() throws {
        for field in ["null", "7", "[]"] {
            let line = Array("{\"ev\":\"stop\",\"conn\":1,\"reason\":\"other\",\"machine\":\(field)}".utf8)
            #expect(try AdapterMessage(line: line.span) == .event(connection: 1, .stopped(.other, detail: nil)))
        }
    }

    @Test(arguments: [
        #""ev":"start","conn":1"#, #""ev":"hello","proto":1,"minor":4,"name":"a","can":[]"#, #""ev":"done","id":7"#,
        #""ev":"accept","conn":1000000,"listener":1"#, #""ev":"line","conn":1,"data":"x""#,
    ])
    func fieldIsIgnoredInOtherMessages(_ text: String) throws {
        let (plain, named) = (Array("{\(text)}".utf8), Array("{\(text),\"machine\":\"EWHATEVER\"}".utf8))
        #expect(try AdapterMessage(line: named.span) == AdapterMessage(line: plain.span))
    }
}
