import Glibc
import Testing

@testable import ProbeSystem

struct ListenerTests {
    /// A program that is being started has a copy of the listener's descriptor between its fork and its `exec`.
    @Test func copyOfTheDescriptorDoesNotKeepListening() throws {
        // The port is outside the range from which the kernel assigns ports to outgoing connections of other tests.
        let ports = PortAllocator(seed: getpid())
        let any = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let address = any.with(port: try ports.freePort(address: any))
        var listener: Listener? = try Listener(address: address, backlog: 4, options: [])
        let copy = try #require(Self.copy(ofSocketAt: address))
        defer { close(copy) }
        #expect(Self.connect(to: address) == 0)

        try #require(listener != nil)
        listener = nil

        #expect(Self.connect(to: address) == ECONNREFUSED)
        // The port can now be used by another listener.
        listener = try Listener(address: address, backlog: 4, options: [])
        #expect(Self.connect(to: address) == 0)
    }

    private static func copy(ofSocketAt address: SocketAddress) -> Int32? {
        let open = (SmallFile.names(in: "/proc/self/fd") ?? []).compactMap { Int32($0) }
        return open.first { SocketAddress.local(of: $0)?.port == address.port }.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
    }

    /// Returns the errno of a `connect`; 0 if it succeeded.
    private static func connect(to address: SocketAddress) -> Int32 {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(raw) }
        return address.withSystemAddress { Glibc.connect(raw, $0, $1) } == 0 ? 0 : errno
    }
}
