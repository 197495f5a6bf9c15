import Glibc
import ProbeBase
import Testing

@testable import ProbeSystem

struct SocketAddressTests {
    private static let paths = ["/tmp/S", "S", "/tmp/é", "/" + String(repeating: "x", count: 106)]

    @Test(arguments: paths)
    func unixPathRoundTrips(path: String) throws {
        let address = try #require(SocketAddress(unixPath: path))
        let read = address.withSystemAddress { SocketAddress($0, length: $1) }
        #expect(read == address)
        #expect(read?.path == path)
        #expect(address.endpoint == nil)
        #expect(address.isLoopback)
        #expect("\(address)" == path)
    }

    @Test(arguments: ["", "/tmp/a\0b", "/" + String(repeating: "x", count: 107)])
    func invalidUnixPathIsRefused(path: String) {
        #expect(SocketAddress(unixPath: path) == nil)
    }

    @Test func socketHasItsOwnAbstractName() throws {
        let descriptor = OwnedDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        let other = OwnedDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        #expect(SocketAddress.bindToOwnName(descriptor.raw) == 0)
        #expect(SocketAddress.bindToOwnName(other.raw) == 0)
        let name = try #require(SocketAddress.local(of: descriptor.raw))
        #expect(name.isUnix)
        #expect(name.path == nil)
        #expect("\(name)".hasPrefix("@"))
        #expect(name != SocketAddress.local(of: other.raw))
    }

    @Test func mappedAddressEqualsTheIPv4Address() {
        let address = SocketAddress(numeric: "::ffff:127.0.0.1", port: 7)
        #expect(address == .loopback(port: 7))
        #expect(address?.with(port: 8) == .loopback(port: 8))
        #expect(address?.path == nil)
    }

    @Test func wildcardIsReachableByLoopback() {
        #expect(SocketAddress(numeric: "0.0.0.0", port: 7)?.reachable == .loopback(port: 7))
        #expect(SocketAddress(numeric: "::", port: 7)?.reachable.host == "::1")
        #expect(SocketAddress(numeric: "127.0.0.2", port: 7)?.reachable.host == "127.0.0.2")
    }
}
