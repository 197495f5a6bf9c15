import ProbeBase
import Glibc
import Testing

@testable import ProbeSystem

/// Tests that additional sockets of a server accept a crowd's connections, and that the server's own socket accepts all
/// other connections.
struct SteeringTests {
    /// Returns an additional socket that listens on the server's address, like the socket of a worker.
    private static func additionalSocket(_ server: Listener) throws -> Int32 {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var on: Int32 = 1
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        setsockopt(raw, SOL_SOCKET, SO_REUSEPORT, &on, 4)
        try #require(server.address.withSystemAddress { bind(raw, $0, $1) } == 0)
        try #require(listen(raw, 100) == 0)
        return raw
    }

    private static func client(from source: SocketAddress, to address: SocketAddress) throws -> Int32 {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        try #require(source.withSystemAddress { bind(raw, $0, $1) } == 0)
        try #require(address.withSystemAddress { connect(raw, $0, $1) } == 0)
        return raw
    }

    /// Accepts the connections that are waiting at a socket, and returns the number of connections.
    private static func accepted(_ raw: Int32) -> Int {
        var count = 0
        while true {
            let socket = accept(raw, nil, nil)
            if socket < 0 { return count }
            close(socket)
            count += 1
        }
    }

    private static func server() throws -> Listener {
        try Listener(address: .loopback(port: 0), backlog: 100, options: [], sharesAddress: true)
    }

    @Test func connectionsAreSteeredByAddress() throws {
        let server = try Self.server()
        try server.steer(.address(network: 0x7f40_0000, mask: 0xffc0_0000), places: 2)
        // Without an additional socket, the server receives all connections.
        let early = try Self.client(from: SocketAddress(IPAddress(v4: 0x7f40_0001), port: 0), to: server.address)
        #expect(try server.accept() != nil)
        let sinks = [try Self.additionalSocket(server), try Self.additionalSocket(server)]
        var clients = [early]
        for number in UInt32(0)..<20 {
            clients.append(
                try Self.client(from: SocketAddress(IPAddress(v4: 0x7f40_0100 + number), port: 0), to: server.address))
        }
        for _ in 0..<10 { clients.append(try Self.client(from: .loopback(port: 0), to: server.address)) }
        #expect(sinks.map(Self.accepted) == [10, 10])
        var own = 0
        while try server.accept() != nil { own += 1 }
        #expect(own == 10)
        for raw in clients + sinks { close(raw) }
    }

    @Test func connectionsAreSteeredByPort() throws {
        let server = try Self.server()
        try server.steer(.port(10_000..<20_000, isIPv6: false), places: 1)
        let sink = try Self.additionalSocket(server)
        var clients: [Int32] = []
        for port in UInt16(19_990)..<20_010 {
            // The address 127.5.0.1 is used because no other test uses ports on it.
            let source = SocketAddress(IPAddress(v4: 0x7f05_0001), port: port)
            clients.append(try Self.client(from: source, to: server.address))
        }
        #expect(Self.accepted(sink) == 10)
        for raw in clients + [sink] { close(raw) }
    }

    @Test func steeredAddressIsExclusive() throws {
        let server = try Self.server()
        let second = #expect(throws: SystemError.self) {
            _ = try Listener(address: server.address, backlog: 1, options: [], sharesAddress: true)
        }
        #expect(second?.code == EADDRINUSE)
    }

    @Test func reservedPortRefusesUntilItListens() throws {
        let reservation = try PortReservation(on: .loopback(port: 0))
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #expect(reservation.address.withSystemAddress { connect(raw, $0, $1) } < 0)
        close(raw)
        #expect(throws: SystemError.self) {
            _ = try Listener(address: reservation.address, backlog: 1, options: [])
        }
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listening, SOL_SOCKET, SO_REUSEPORT, &on, 4)
        #expect(reservation.address.withSystemAddress { bind(listening, $0, $1) } == 0)
        #expect(listen(listening, 10) == 0)
        close(try Self.client(from: .loopback(port: 0), to: reservation.address))
        close(listening)
    }
}
