import ProbeBase
import ProbeSystem
import ProbeWire
import Testing

@testable import ProbeEngine

/// Tests how the owner of a captured connection is determined from times and addresses. The tests use no sockets.
@Suite struct WireBindingTests {
    private final class Socket {}

    private static func opening(
        _ client: Int, at time: UInt64, sequence: UInt32 = 0, to server: String = "127.0.0.1:9741"
    ) throws -> WireBinding.Opening {
        WireBinding.Opening(
            client: SocketEndpoint(address: .loopbackV4, port: UInt16(client)),
            server: try #require(SocketEndpoint(server)), sequence: SequenceNumber(sequence), time: time)
    }

    private static func own(
        _ socket: Socket, _ local: Int, _ origin: ConnectionOrigin, isServer: Bool = false
    ) throws -> WireBinding.OwnConnection {
        let client = SocketEndpoint(address: .loopbackV4, port: UInt16(local))
        let server = try #require(SocketEndpoint("127.0.0.1:9741"))
        return WireBinding.OwnConnection(
            id: ObjectIdentifier(socket), local: isServer ? server : client, peer: isServer ? client : server,
            origin: origin)
    }

    private static func subject(
        _ name: String, _ began: UInt64, settled: UInt64?, ended: UInt64? = nil, isConnected: Bool = true,
        belongsToOtherCase: Bool = false
    ) throws -> WireBinding.Opener {
        WireBinding.Opener(
            name: name, kind: .subject, targets: [EndpointPattern(try #require(SocketEndpoint("127.0.0.1:9741")))],
            began: began, settled: settled, ended: ended, isConnected: isConnected,
            belongsToOtherCase: belongsToOtherCase)
    }

    private static func program(_ name: String, _ began: UInt64, ended: UInt64? = nil) -> WireBinding.Opener {
        WireBinding.Opener(
            name: name, kind: .program, targets: [EndpointPattern(anyAddressPort: 9741)], began: began, ended: ended)
    }

    private static func binding(
        _ openings: [WireBinding.Opening], own: [WireBinding.OwnConnection] = [], _ openers: [WireBinding.Opener] = [],
        isListener: Bool = true
    ) -> WireBinding {
        WireBinding(openings: openings, own: own, openers: openers, isListener: { _ in isListener })
    }

    // MARK: The harness's own connections

    /// Several clients use the same port one after another: each client's SYN is the first SYN after its `connect`.
    @Test func clientsOfOnePortAreDistinguishedByTime() throws {
        let (c, d, e) = (Socket(), Socket(), Socket())
        let openings = try [
            Self.opening(40_000, at: 100), Self.opening(40_001, at: 150), Self.opening(40_000, at: 200),
            Self.opening(40_000, at: 300),
        ]
        let own = try [
            Self.own(c, 40_000, .connected(after: 95)), Self.own(d, 40_000, .connected(after: 195)),
            Self.own(e, 40_000, .connected(after: 290)),
        ]
        let binding = Self.binding(openings, own: own)
        #expect(binding.ends[ObjectIdentifier(c)] == WireEnd(index: 0, side: .client))
        #expect(binding.ends[ObjectIdentifier(d)] == WireEnd(index: 2, side: .client))
        #expect(binding.ends[ObjectIdentifier(e)] == WireEnd(index: 3, side: .client))
    }

    @Test func clientWithoutASYNHasNoConnection() throws {
        let c = Socket()
        let binding = Self.binding(
            [try Self.opening(40_000, at: 100)], own: [try Self.own(c, 40_000, .connected(after: 101))])
        #expect(binding.ends.isEmpty)
        #expect(binding.candidates[0] == [])
    }

    @Test func acceptedConnectionsAreIdentifiedByTheirISN() throws {
        let (a, b) = (Socket(), Socket())
        let openings = try [
            Self.opening(40_000, at: 100, sequence: 7), Self.opening(40_000, at: 200, sequence: 8),
        ]
        // Two connections are accepted in the order in which they were queued, and only after both of them have
        // arrived.
        let own = try [
            Self.own(b, 40_000, .accepted(sequence: 8, before: 300), isServer: true),
            Self.own(a, 40_000, .accepted(sequence: 7, before: 310), isServer: true),
        ]
        let binding = Self.binding(openings, own: own)
        #expect(binding.ends[ObjectIdentifier(a)] == WireEnd(index: 0, side: .server))
        #expect(binding.ends[ObjectIdentifier(b)] == WireEnd(index: 1, side: .server))
    }

    @Test(arguments: [(1, true), (2, false)])
    func withoutAnISNOnlyASingleConnectionIsIdentified(count: Int, isKnown: Bool) throws {
        let a = Socket()
        let openings = try (0..<count).map { try Self.opening(40_000, at: UInt64(100 + $0)) }
        let own = [try Self.own(a, 40_000, .accepted(sequence: nil, before: 300), isServer: true)]
        #expect((Self.binding(openings, own: own).ends[ObjectIdentifier(a)] != nil) == isKnown)
    }

    // MARK: Subjects and programs

    @Test func successiveSubjectsAreDistinguishedByTime() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 210)]
        let binding = Self.binding(
            openings, [try Self.subject("T", 100, settled: 120), try Self.subject("U", 200, settled: 220)])
        #expect(binding.opened(by: "T") == [0])
        #expect(binding.opened(by: "U") == [1])
    }

    /// The subject T reports `started` only after the subject U has been started.
    @Test func lateReportDoesNotConfuseSubjects() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 210)]
        let binding = Self.binding(
            openings, [try Self.subject("T", 100, settled: 215), try Self.subject("U", 200, settled: 220)])
        #expect(binding.opened(by: "T") == [0])
        #expect(binding.opened(by: "U") == [1])
    }

    @Test func concurrentStartsAreAmbiguous() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 111)]
        let binding = Self.binding(
            openings, [try Self.subject("T", 100, settled: 120), try Self.subject("U", 101, settled: 121)])
        #expect(binding.opened(by: "T") == [])
        #expect(binding.possiblyOpened(by: "T") == [0, 1])
        #expect(binding.candidates[1] == ["T", "U"])
    }

    @Test func reconnectingSubjectHasTwoConnections() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 500)]
        let binding = Self.binding(openings, [try Self.subject("T", 100, settled: 120)])
        #expect(binding.opened(by: "T") == [0, 1])
    }

    @Test func connectionAfterTheStopIsUnowned() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 500)]
        let binding = Self.binding(openings, [try Self.subject("T", 100, settled: 120, ended: 400)])
        #expect(binding.opened(by: "T") == [0])
        #expect(binding.candidates[1] == [])
    }

    @Test func programsAndSubjectsAreDistinguishedByTime() throws {
        let openings = try [Self.opening(40_000, at: 60), Self.opening(40_001, at: 110)]
        let openers = [Self.program("P", 50), try Self.subject("T", 100, settled: 120)]
        let binding = Self.binding(openings, openers)
        #expect(binding.opened(by: "P") == [0])
        #expect(binding.opened(by: "T") == [1])
        // Two connections were opened while the subject was starting, and either may belong to the program.
        let both = Self.binding(try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 111)], openers)
        #expect(both.opened(by: "T") == [])
        #expect(both.possiblyOpened(by: "P") == [0, 1])
    }

    @Test func concurrentProgramsAreAmbiguous() throws {
        let openings = try [
            Self.opening(40_000, at: 60), Self.opening(40_001, at: 110), Self.opening(40_002, at: 210),
        ]
        let binding = Self.binding(openings, [Self.program("P", 50, ended: 200), Self.program("Q", 100)])
        #expect(binding.opened(by: "P") == [0])
        #expect(binding.candidates[1] == ["P", "Q"])
        #expect(binding.opened(by: "Q") == [2])
    }

    // MARK: A server that other programs use too

    @Test func otherProgramsConnectionsAreExcluded() throws {
        let openings = try [
            Self.opening(40_000, at: 50), Self.opening(40_001, at: 110), Self.opening(40_002, at: 300),
        ]
        let binding = Self.binding(openings, [try Self.subject("T", 100, settled: 120)], isListener: false)
        #expect(binding.opened(by: "T") == [1])
        #expect(binding.others == [0, 2])
    }

    /// If another program connects while the subject is starting, the two connections can't be distinguished, and
    /// neither is stored.
    @Test func twoConnectionsDuringAStartAreAmbiguous() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 111)]
        let binding = Self.binding(openings, [try Self.subject("T", 100, settled: 120)], isListener: false)
        #expect(binding.opened(by: "T") == [])
        #expect(binding.possiblyOpened(by: "T") == [0, 1])
        #expect(binding.possiblyOthers == [0, 1])
        #expect(Self.binding(openings, [try Self.subject("T", 100, settled: 120)]).opened(by: "T") == [0, 1])
    }

    /// The name `localhost` has two addresses, and the first address refuses the connection.
    @Test func subjectMayTryTwoAddresses() throws {
        let openings = try [Self.opening(40_000, at: 110, to: "[::1]:9741"), Self.opening(40_001, at: 111)]
        let opener = WireBinding.Opener(
            name: "T", kind: .subject, targets: [EndpointPattern(anyAddressPort: 9741)], began: 100, settled: 120,
            isConnected: true)
        let binding = Self.binding(openings, [opener], isListener: false)
        #expect(binding.opened(by: "T") == [0, 1])
        #expect(binding.possiblyOthers.isEmpty)
    }

    @Test func subjectsOfOtherCasesAreExcluded() throws {
        let openings = try [Self.opening(40_000, at: 110), Self.opening(40_001, at: 210)]
        let openers = try [
            Self.subject("T", 200, settled: 220), Self.subject("T", 100, settled: 120, belongsToOtherCase: true),
        ]
        let binding = Self.binding(openings, openers, isListener: false)
        #expect(binding.opened(by: "T") == [1])
        #expect(binding.others == [0])
    }

    @Test func concurrentStartsOfTwoCasesAreAmbiguous() throws {
        let openings = try [Self.opening(40_000, at: 110)]
        let openers = try [
            Self.subject("T", 100, settled: 220), Self.subject("T", 100, settled: 120, belongsToOtherCase: true),
        ]
        let binding = Self.binding(openings, openers, isListener: false)
        // A single connection can be attributed: the case expects one connection, and exactly one was captured.
        #expect(binding.opened(by: "T") == [0])
        let two = Self.binding(openings + [try Self.opening(40_001, at: 115)], openers, isListener: false)
        #expect(two.candidates[0]?.isSuperset(of: ["T", "T of another case"]) == true)
        #expect(two.candidates[1]?.isSuperset(of: ["T", "T of another case"]) == true)
        #expect(two.opened(by: "T") == [])
        #expect(two.others.isEmpty)
    }

    @Test func programOwnsConnectionsOfItsChildren() throws {
        let openings = try [Self.opening(40_000, at: 300)]
        #expect(Self.binding(openings, [Self.program("P", 50, ended: 200)]).opened(by: "P") == [0])
    }

    /// If the subject reports `started` before it connects, and other programs connect as well, no connection is
    /// attributed to the subject.
    @Test func earlyReportAmongOthersIsAmbiguous() throws {
        let openings = try (0..<6).map { try Self.opening(40_000 + $0, at: UInt64(110 + $0)) }
        let binding = Self.binding(openings, [try Self.subject("T", 100, settled: 105)], isListener: false)
        #expect(binding.opened(by: "T") == [])
        #expect(binding.possiblyOpened(by: "T") == Array(0..<6))
    }

    /// If the subject reports `started` before it connects, the only possible connection is attributed to the subject.
    @Test func earlyReportKeepsTheOnlyConnection() throws {
        let openers = [try Self.subject("T", 100, settled: 105)]
        let binding = Self.binding([try Self.opening(40_000, at: 110)], openers, isListener: false)
        #expect(binding.opened(by: "T") == [0])
    }
}
