import ProbeBase
import ProbeWire
import Testing

@testable import ProbeCapture

/// Tests, without sockets, which subscription a segment is assigned to.
@Suite struct ConnectionRouterTests {
    private final class Owner {}

    private typealias Router = ConnectionRouter<Owner>

    private static func endpoint(_ text: String) throws -> SocketEndpoint { try #require(SocketEndpoint(text)) }

    private static func pattern(_ text: String) throws -> EndpointPattern { EndpointPattern(try endpoint(text)) }

    private static func segment(
        _ from: String, _ to: String, _ flags: TCPFlags, seq: UInt32, ack: UInt32 = 0, length: Int = 0
    ) throws -> DecodedTCP {
        DecodedTCP(
            source: try endpoint(from), destination: try endpoint(to), sequence: SequenceNumber(seq),
            acknowledgment: SequenceNumber(ack), flags: flags, payloadLength: length)
    }

    private static let client = "127.0.0.1:40000"
    private static let server = "127.0.0.1:9741"

    /// Routes the segments of a connection whose client has the initial sequence number `seq`: SYN, SYN-ACK, ACK, four
    /// bytes, and the ACK of these bytes. Returns the route of each segment.
    @discardableResult
    private static func connect(
        _ router: inout Router, seq: UInt32, time: UInt64, client: String = client, server: String = server
    ) throws -> [Router.Route?] {
        let answer = seq &+ 5_000
        return [
            router.route(try segment(client, server, .syn, seq: seq), time: time),
            router.route(try segment(server, client, [.syn, .ack], seq: answer, ack: seq &+ 1), time: time + 1),
            router.route(try segment(client, server, .ack, seq: seq &+ 1, ack: answer &+ 1), time: time + 2),
            router.route(try segment(client, server, .ack, seq: seq &+ 1, ack: answer &+ 1, length: 4), time: time + 3),
            router.route(try segment(server, client, .ack, seq: answer &+ 1, ack: seq &+ 5), time: time + 4),
        ]
    }

    @Test(arguments: [100, UInt32.max - 2, UInt32.max - 5_002, 0] as [UInt32])
    func packetsOfAConnectionShareItsNumber(seq: UInt32) throws {
        var router = Router()
        let owner = Owner()
        router.subscribe(owner, to: .listener(try Self.pattern(Self.server)), since: 0)
        let routes = try Self.connect(&router, seq: seq, time: 10)
        #expect(routes.allSatisfy { $0?.connection == 1 && $0?.owners.count == 1 })
    }

    @Test func earlierConnectionsAreNotRouted() throws {
        var router = Router()
        router.subscribe(Owner(), to: .listener(try Self.pattern(Self.server)), since: 100)
        #expect(try Self.connect(&router, seq: 1, time: 50).allSatisfy { $0 == nil })
        #expect(try Self.connect(&router, seq: 9_000_000, time: 150).allSatisfy { $0 != nil })
    }

    @Test func connectionsOfReleasedSubscriptionsAreNotRouted() throws {
        var router = Router()
        let (first, second) = (Owner(), Owner())
        let scope = CaptureScope.listener(try Self.pattern(Self.server))
        router.subscribe(first, to: scope, since: 0)
        try Self.connect(&router, seq: 1000, time: 10)
        router.release(first)
        #expect(router.trackedCount == 0)
        router.subscribe(second, to: scope, since: 20)
        let late = try Self.segment(Self.server, Self.client, [.rst, .ack], seq: 6001, ack: 1005)
        #expect(router.route(late, time: 30) == nil)
        // The late segment has no route even if the addresses are reused, because the kernel then begins with a higher
        // sequence number.
        let routes = try Self.connect(&router, seq: 70_000, time: 40)
        #expect(routes.allSatisfy { $0?.owners.first === second })
        #expect(router.route(late, time: 50) == nil)
        #expect(
            router.route(try Self.segment(Self.server, Self.client, .rst, seq: 75_001), time: 60)?.owners.first
                === second)
    }

    /// If an ephemeral port is used twice in one case, late segments of the first connection still belong to the first
    /// connection.
    @Test func lateSegmentsBelongToTheEarlierConnection() throws {
        var router = Router()
        let owner = Owner()
        router.subscribe(owner, to: .listener(try Self.pattern(Self.server)), since: 0)
        try Self.connect(&router, seq: 1000, time: 10)
        let second = try Self.connect(&router, seq: 70_000, time: 20)
        #expect(second.allSatisfy { $0?.connection == 2 })
        let late: [(String, String, TCPFlags, UInt32, UInt32)] = [
            (Self.server, Self.client, [.rst, .ack], 6001, 1005), (Self.server, Self.client, .rst, 6001, 0),
            (Self.client, Self.server, [.fin, .ack], 1005, 6001), (Self.client, Self.server, .rst, 1005, 0),
        ]
        for (from, to, flags, seq, ack) in late {
            #expect(router.route(try Self.segment(from, to, flags, seq: seq, ack: ack), time: 30)?.connection == 1)
        }
        let own = try Self.segment(Self.server, Self.client, [.rst, .ack], seq: 75_001, ack: 70_005)
        #expect(router.route(own, time: 31)?.connection == 2)
    }

    @Test func synOpensANewConnectionOnlyAfterARefusal() throws {
        var router = Router()
        router.subscribe(Owner(), to: .listener(try Self.pattern(Self.server)), since: 0)
        let syn = try Self.segment(Self.client, Self.server, .syn, seq: 500)
        let refusal = try Self.segment(Self.server, Self.client, [.rst, .ack], seq: 0, ack: 501)
        #expect(router.route(syn, time: 1)?.connection == 1)
        #expect(router.route(syn, time: 2)?.connection == 1)
        #expect(router.route(refusal, time: 3)?.connection == 1)
        #expect(try Self.connect(&router, seq: 9_000, time: 4).allSatisfy { $0?.connection == 2 })
    }

    @Test func simultaneousOpenIsOneConnection() throws {
        var router = Router()
        router.subscribe(Owner(), to: .listener(try Self.pattern(Self.server)), since: 0)
        let segments = [
            try Self.segment(Self.client, Self.server, .syn, seq: 500),
            try Self.segment(Self.server, Self.client, .syn, seq: 90_000),
            try Self.segment(Self.client, Self.server, [.syn, .ack], seq: 500, ack: 90_001),
            try Self.segment(Self.server, Self.client, [.syn, .ack], seq: 90_000, ack: 501),
        ]
        for segment in segments { #expect(router.route(segment, time: 1)?.connection == 1) }
    }

    @Test func addressesAreRoutedSeparately() throws {
        var router = Router()
        let (one, two, every) = (Owner(), Owner(), Owner())
        router.subscribe(one, to: .listener(try Self.pattern("127.0.0.1:9741")), since: 0)
        router.subscribe(two, to: .listener(try Self.pattern("127.0.0.2:9741")), since: 0)
        router.subscribe(every, to: .listener(try Self.pattern("0.0.0.0:9741")), since: 0)
        for (address, owner) in [("127.0.0.1", one), ("127.0.0.2", two), ("127.0.0.3", every)] {
            let routes = try Self.connect(&router, seq: 1, time: 1, server: "\(address):9741")
            #expect(routes.allSatisfy { $0?.owners.count == 1 && $0?.owners.first === owner }, "\(address)")
        }
        let six = try Self.connect(&router, seq: 1, time: 1, client: "[::1]:40000", server: "[::1]:9741")
        #expect(six.allSatisfy { $0 == nil })
    }

    @Test func everySubscriptionToAServerGetsItsConnections() throws {
        var router = Router()
        let (one, two) = (Owner(), Owner())
        for owner in [one, two] { router.subscribe(owner, to: .server(try Self.pattern(Self.server)), since: 0) }
        let routes = try Self.connect(&router, seq: 1, time: 1)
        #expect(routes.allSatisfy { $0?.owners.count == 2 && $0?.connection == 1 })
        router.release(one)
        let more = try Self.segment(Self.client, Self.server, .ack, seq: 6, ack: 5_002, length: 3)
        #expect(router.route(more, time: 9)?.owners.count == 1)
    }

    @Test func clientConnectionIsRoutedOnlyToTheClient() throws {
        var router = Router()
        let (mine, others) = (Owner(), Owner())
        router.subscribe(others, to: .server(try Self.pattern(Self.server)), since: 0)
        let endpoint = try Self.endpoint(Self.client)
        router.subscribe(mine, to: .client(endpoint, peer: try Self.endpoint(Self.server)), since: 0)
        let first = try Self.connect(&router, seq: 1, time: 1)
        #expect(first.allSatisfy { $0?.owners.count == 1 && $0?.owners.first === mine })
        // The client's subscription applied to one connection only. A later connection from the same port belongs to
        // another subscription.
        let second = try Self.connect(&router, seq: 90_000, time: 10)
        #expect(second.allSatisfy { $0?.owners.first === others })
    }

    @Test func unownedConnectionIsNotMistakenForAnEarlierOne() throws {
        var router = Router()
        let owner = Owner()
        let scope = CaptureScope.client(try Self.endpoint(Self.client), peer: try Self.endpoint(Self.server))
        router.subscribe(owner, to: scope, since: 0)
        #expect(try Self.connect(&router, seq: 1000, time: 1).allSatisfy { $0 != nil })
        #expect(try Self.connect(&router, seq: 90_000, time: 10).allSatisfy { $0 == nil })
        router.release(owner)
        #expect(router.trackedCount == 0)
    }

    @Test func forgedSegmentsBelongToTheNewestConnection() throws {
        var router = Router()
        router.subscribe(Owner(), to: .listener(try Self.pattern(Self.server)), since: 0)
        try Self.connect(&router, seq: 1000, time: 1)
        let forged = try Self.segment(Self.server, Self.client, .rst, seq: 1_000_000_000)
        #expect(router.route(forged, time: 2)?.connection == 1)
    }

    /// The stream has 12 GiB, more than the range of sequence numbers, and packets are missing.
    @Test func streamMayWrapItsSequenceNumbers() throws {
        var router = Router()
        router.subscribe(Owner(), to: .listener(try Self.pattern(Self.server)), since: 0)
        try Self.connect(&router, seq: 1000, time: 1)
        var seq: UInt32 = 1005
        for round in 0..<250 {
            let data = try Self.segment(Self.client, Self.server, .ack, seq: seq, ack: 6001, length: 60_000)
            #expect(router.route(data, time: UInt64(10 + round))?.connection == 1)
            seq &+= 50_000_000
        }
    }
}
