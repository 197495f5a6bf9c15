import Glibc
import Testing

@testable import ProbeSystem

@Suite struct ConnectionOriginTests {
    @Test(arguments: [(UInt8(0x45), 20), (0x4f, 60), (0x60, 40)])
    func isnIsReadAfterTheAddresses(first: UInt8, length: Int) {
        let headers = [first] + [UInt8](repeating: 0xee, count: length - 1) + [1, 2, 3, 4, 0xde, 0xad, 0xbe, 0xef, 5]
        #expect(ConnectionOrigin.initialSequence(inHeaders: headers[...]) == 0xdead_beef)
        for count in 0..<length + 8 {
            #expect(ConnectionOrigin.initialSequence(inHeaders: headers.prefix(count)) == nil)
        }
    }

    @Test func unknownHeaderHasNoISN() {
        for first in [UInt8(0), 0x41, 0x44, 0x50, 0xff] {
            let headers = [first] + [UInt8](repeating: 1, count: 100)
            #expect(ConnectionOrigin.initialSequence(inHeaders: headers[...]) == nil)
        }
    }

    /// The kernel saves the SYN of each connection that a listener of the harness accepts.
    @Test(arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    func acceptedConnectionHasItsISN(host: String) throws {
        guard let address = SocketAddress(numeric: host, port: 0) else {
            Issue.record("\(host) is not an address")
            return
        }
        let listener: Listener
        do {
            listener = try Listener(address: address, backlog: 4, options: [])
        } catch {
            try Test.cancel("\(host) can't be bound here: \(error.reason)")
        }
        let client = try openSocket(for: address)
        #expect(listener.address.withSystemAddress { connect(client.raw, $0, $1) } == 0 || errno == EINPROGRESS)
        var poller = pollfd(fd: client.raw, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&poller, 1, 10_000) == 1)
        guard let accepted = try listener.accept() else {
            Issue.record("no connection was received")
            return
        }
        guard case .accepted(let sequence, let before) = accepted.origin else {
            Issue.record("the connection's origin is not an accept")
            return
        }
        #expect(sequence != nil)
        #expect(before <= WallClock.now)
    }

    /// An IPv4-mapped IPv6 address is equal to the IPv4 address.
    @Test func mappedAddressEqualsTheIPv4Address() {
        let mapped = SocketAddress(numeric: "::ffff:127.0.0.1", port: 80)
        #expect(mapped == SocketAddress(numeric: "127.0.0.1", port: 80))
        #expect(mapped?.isIPv6 == false)
        #expect(mapped?.isLoopback == true)
        #expect(SocketAddress(numeric: "::ffff:10.0.0.1", port: 80)?.isLoopback == false)
        #expect(SocketAddress(numeric: "::1", port: 80)?.isLoopback == true)
        #expect(SocketAddress(numeric: "::2", port: 80)?.isLoopback == false)
        #expect(SocketAddress(numeric: "::ffff:0.0.0.0", port: 80)?.isUnspecified == true)
    }
}
