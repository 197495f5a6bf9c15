import ProbeBase
import ProbeWire
import Synchronization
import Testing

@testable import ProbeCapture

@Suite struct CaptureCoreTests {
    private static let packet = CapturedPacket(time: 1, originalLength: 60, bytes: [0])

    private static func syn(to port: UInt16) -> DecodedTCP {
        DecodedTCP(
            source: SocketEndpoint(address: .loopbackV4, port: 40_000),
            destination: SocketEndpoint(address: .loopbackV4, port: port), sequence: SequenceNumber(1),
            acknowledgment: SequenceNumber(0), flags: .syn)
    }

    /// A subscription to all packets receives neither packets on ports for which the capture was not opened nor packets
    /// that belong to another subscription.
    @Test func unfilteredSubscriptionKeepsToItsPorts() throws {
        let core = try CaptureCore(
            ports: CapturePorts(range: 2000...2009), filter: "", markers: FenceMarkers(), linkType: 1, descriptor: -1)
        let everything = PacketStore(limit: 10_000)
        let one = PacketStore(limit: 10_000)
        core.state.withLock { $0.everything = everything }
        core.subscribe(one, to: .listener(EndpointPattern(anyAddressPort: 2005)), since: 0)
        core.deliver(Self.syn(to: 2001), Self.packet, time: 1)
        #expect((everything.count, one.count) == (1, 0))
        core.deliver(Self.syn(to: 2005), Self.packet, time: 1)
        #expect((everything.count, one.count) == (1, 1))
        core.deliver(Self.syn(to: 40_001), Self.packet, time: 1)
        #expect((everything.count, one.count) == (1, 1))
    }
}
