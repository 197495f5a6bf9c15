import Glibc
import ProbeBase
import Testing

@testable import ProbeSystem

struct ListeningSocketsTests {
    /// Tests that a port is reported to have a listener from `listen()` until the socket is closed.
    @Test(arguments: ["127.0.0.1", "::1"])
    func listenerIsFoundUntilClosed(host: String) throws {
        guard let address = SocketAddress(numeric: host, port: 0) else { throw Problem.noAddress }
        var listener: Listener?
        do { listener = try Listener(address: address, backlog: 1, options: []) } catch {
            // If the loopback interface has no IPv6, listening on ::1 fails.
            #expect(host == "::1")
        }
        guard let port = listener?.address.port else { return }
        #expect(ListeningSockets.isListening(port: port))
        let reachable = host == "::1" ? "[::1]:\(port)" : "127.0.0.1:\(port)"
        #expect(ListeningSockets.loopbackOnly(ownedByGroup: getpgrp()).contains(reachable))
        listener = nil
        #expect(!ListeningSockets.isListening(port: port))
    }

    @Test func moreSocketsThanOneReplyHoldsAreFound() throws {
        var listeners: [Listener] = []
        for _ in 0..<300 { listeners.append(try Listener(address: .loopback(port: 0), backlog: 1, options: [])) }
        let found = ListeningSockets.ports(ownedByGroup: getpgrp()).ports
        #expect(listeners.allSatisfy { found.contains($0.address.port) })
        listeners = []
    }

    @Test func endpointsInKernelTablesAreParsed() {
        func read(_ text: String) -> String? { SocketEndpoint(kernelTable: Array(text.utf8)[...])?.description }
        #expect(read("0100007F:1F90") == "127.0.0.1:8080")
        #expect(read("00000000000000000000000001000000:0050") == "[::1]:80")
        #expect(read("0000000000000000FFFF00000100007F:0050") == "[::ffff:127.0.0.1]:80")
        let invalid = [
            "", ":", "0100007F", "0100007F:", "0100007F:10000", "0100007:0050", "0100007F01:0050", "0100007x:0050",
        ]
        for text in invalid { #expect(read(text) == nil, "\(text)") }
    }

    private enum Problem: Error { case noAddress }
}
