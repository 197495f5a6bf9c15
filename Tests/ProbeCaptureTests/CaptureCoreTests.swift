import Synchronization
import Testing

@testable import ProbeCapture

@Suite struct CaptureCoreTests {
    /// Whoever claims everything gets no packet of ports that the capture was not opened for.
    @Test func everythingIsWhatWasAskedFor() throws {
        let core = try CaptureCore(
            ports: CapturePorts(range: 2000...2009), filter: "", markers: FenceMarkers(), linkType: 1, descriptor: -1)
        let everything = PacketStore(limit: 1000)
        let one = PacketStore(limit: 1000)
        core.state.withLock { state in
            state.everything = everything
            state.stores[2005] = one
        }
        #expect(core.store(source: 40_000, destination: 2001) === everything)
        #expect(core.store(source: 2001, destination: 40_000) === everything)
        #expect(core.store(source: 2005, destination: 40_000) === one)
        #expect(core.store(source: 40_000, destination: 40_001) == nil)
    }
}
