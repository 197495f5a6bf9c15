import ProbeBase
import Testing

struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("fe80::", "fe80::"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("::ffff:c000:201", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ])
    func descriptionIsCanonical(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
        #expect(IPAddress(bytes: address.bytes.span) == address)
    }

    @Test(arguments: [
        "", "127.0.0", "127.0.0.1.1", "256.0.0.1", "01.0.0.1", "1.2.3.", "a.b.c.d", "1..2.3", ":", ":::",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1%lo", "[::1]", "1:2:3:4:5:6:7:8::", "1.2.3.4::", " ::1",
        "::1.2.3", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7",
    ])
    func invalidAddressesAreRefused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func loopbackIsRecognized() {
        #expect(IPAddress.loopbackV4.isLoopback && IPAddress.loopbackV6.isLoopback)
        #expect(IPAddress(v4: 0x7fff_0001).isLoopback)
        #expect(!IPAddress(v4: 0x0a00_0001).isLoopback)
        #expect(IPAddress(bytes: [1, 2, 3].span) == nil)
    }

    @Test(arguments: [("127.0.0.1:80", 80), ("[::1]:65535", 65535), ("10.0.0.1:0", 0)] as [(String, UInt16)])
    func endpointRoundTrips(text: String, port: UInt16) throws {
        let endpoint = try #require(SocketEndpoint(text))
        #expect(endpoint.description == text)
        #expect(endpoint.port == port)
    }

    @Test(arguments: [
        "127.0.0.1", "::1:80", "[127.0.0.1]:80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+8", "[::1]80",
    ])
    func invalidEndpointsAreRefused(text: String) {
        #expect(SocketEndpoint(text) == nil)
    }
}
