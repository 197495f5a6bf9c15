import ProbeBase
import ProbeSystem
import Testing

@testable import ProbeCrowd

/// Tests that messages between workers and the engine are the same after they have been encoded as JSON and decoded.
struct CrowdOrderTests {
    private func order(_ role: CrowdOrder.Role) -> CrowdOrder {
        let second = Duration.seconds(1)
        var order = CrowdOrder(
            role: role, first: 1, step: 2, count: 10,
            program: MemberProgram(
                instructions: [
                    .connect(within: second), .send(pieces: [[0, 255], [10]], pause: .milliseconds(5)),
                    .expect(.line(.any), within: second), .expect(.line(.equal([200, 13])), within: second),
                    .expect(.line(.regex("^2\\d", flags: "i")), within: second), .expect(.count(7), within: second),
                    .expect(.until([0]), within: second), .expect(.eof, within: second), .wait(.microseconds(3)),
                    .stopReading, .read(count: 1, every: second), .sendEndlessly([1], every: second), .close, .reset,
                    .jump(to: 0),
                ], terminator: [13, 10]))
        order.rate = 2000
        order.receiveBuffer = 4096
        order.sources = .localhost(offset: 9)
        order.otherSources = SourceAddresses(members: 10, seed: 7)
        order.countFile = "/tmp/a b/V"
        order.tls = MemberTLS()
        order.tls?.serverName = "a.test"
        order.tls?.alpn = ["h2", "http/1.1"]
        return order
    }

    @Test func orderRoundTrips() throws {
        let place = SocketEndpoint(address: .loopbackV4, port: 80)
        for role in [CrowdOrder.Role.clients(to: place), .servers(at: place), .sink(at: place, place: 1, places: 3)] {
            let text = order(role).json.encoded()
            let read = try #require(CrowdOrder(json: try JSONParser.parse(text.span)))
            #expect(read.json.encoded() == text)
            #expect(read.members == 5)
        }
    }

    @Test(arguments: [
        "{}", #"{"role":{"kind":"x"}}"#,
        #"{"role":{"kind":"clients","at":{"address":"x","port":1}},"first":0,"step":1,"count":1,"program":{"terminator":"","instructions":[]}}"#,
        #"{"role":{"kind":"clients","at":{"address":"127.0.0.1","port":1}},"first":0,"step":0,"count":1,"program":{"terminator":"","instructions":[]}}"#,
        #"{"role":{"kind":"clients","at":{"address":"127.0.0.1","port":1}},"first":0,"step":1,"count":1,"program":{"terminator":"","instructions":[{"do":"jump","to":1}]}}"#,
        #"{"role":{"kind":"clients","at":{"address":"127.0.0.1","port":1}},"first":0,"step":1,"count":1,"program":{"terminator":"","instructions":[{"do":"dance"}]}}"#,
    ])
    func invalidOrdersAreRefused(text: String) throws {
        #expect(CrowdOrder(json: try JSONParser.parse(Array(text.utf8).span)) == nil)
    }

    @Test func snapshotRoundTrips() throws {
        var snapshot = CrowdSnapshot()
        (snapshot.started, snapshot.connected, snapshot.alive, snapshot.failed) = (9, 8, 7, 1)
        snapshot.failures = [.init(instruction: 3, reason: "the line was \"x\"", count: 1)]
        snapshot.latencies[.line] = LatencyRecord()
        snapshot.latencies[.line]?.add(nanoseconds: 1023, count: 4)
        snapshot.latencies[.line]?.failed = 2
        snapshot.latencies[.line]?.addRunning(nanoseconds: 7, count: 1)
        snapshot.latencies[.line]?.open = 3
        snapshot.standstills.add(from: MonotonicTime(nanoseconds: 5), to: MonotonicTime(nanoseconds: 9))
        let text = snapshot.json.encoded()
        let read = try #require(CrowdSnapshot(json: try JSONParser.parse(text.span)))
        #expect(read.json.encoded() == text)
        #expect(read.latencies == snapshot.latencies)
        let stood = read.standstills.all(from: MonotonicTime(nanoseconds: 0))
        #expect(stood.map { [$0.from.nanoseconds, $0.to.nanoseconds] } == [[5, 9]])
    }

    @Test func snapshotsAreMerged() {
        var left = CrowdSnapshot()
        left.connected = 2
        left.failures = [.init(instruction: 0, reason: "refused", count: 1)]
        var right = CrowdSnapshot()
        right.connected = 3
        right.failures = [
            .init(instruction: 0, reason: "refused", count: 4), .init(instruction: 1, reason: "refused", count: 2),
        ]
        left.merge(right)
        #expect(left.connected == 5)
        #expect(left.failures.map(\.count) == [5, 2])
    }

    @Test(arguments: [1, 16, 1000, 60_000])
    func memberEndpointsAreUnique(members: Int) {
        for seed in [UInt64(0), 7, .max] {
            let sources = SourceAddresses(members: members, seed: seed)
            var seen: Set<UInt64> = []
            for member in 0..<members {
                let end = sources.endpoint(of: member)
                seen.insert(UInt64(end.address) << 16 | UInt64(end.port))
                let isInside = end.address & SourceAddresses.network.mask == SourceAddresses.network.address
                #expect(isInside && SourceAddresses.ports.contains(Int(end.port)))
            }
            #expect(seen.count == members)
        }
    }

    @Test func localhostHasOneMemberPerPort() {
        let sources = SourceAddresses.localhost(offset: 22_000)
        let members = SourceAddresses.ports.count
        let ends = (0..<members).map { sources.endpoint(of: $0) }
        #expect(ends.allSatisfy { $0.address == 0x7f00_0001 && SourceAddresses.ports.contains(Int($0.port)) })
        #expect(Set(ends.map(\.port)).count == members)
        #expect(sources.suffices(for: members - 1))
        #expect(!sources.suffices(for: members))
        #expect(sources.text == "127.0.0.1")
    }

    @Test func givenAddressesAreUsedInTurn() {
        let sources = SourceAddresses(first: 0x7f00_0002, addresses: 3, ports: SourceAddresses.ports)
        #expect((0..<6).map { sources.endpoint(of: $0).address & 0xff } == [2, 3, 4, 2, 3, 4])
        #expect(Set((0..<6).map { sources.endpoint(of: $0).port }).count == 2)
        #expect(sources.text == "127.0.0.2 to 127.0.0.4")
    }

    @Test func reconnectingMemberGetsAnotherPort() {
        let sources = SourceAddresses(members: 100, seed: 7)
        let ends = (0..<50).map { sources.endpoint(of: 3, round: $0) }
        #expect(Set(ends.map(\.port)).count == 50)
        #expect(Set(ends.map(\.address)).count == 1)
    }
}
