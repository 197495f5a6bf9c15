import ProbeCapture
import Testing

@Suite struct CapturePortsTests {
    @Test func joinsWhatTouchesOrOverlaps() {
        let ports = CapturePorts(range: 2000...2009, extra: [1999, 2010, 2005, 80, 65_535, 65_534, 0])
        #expect(ports.ranges == [0...0, 80...80, 1999...2010, 65_534...65_535])
    }

    @Test func insertSaysWhetherItGrew() {
        var ports = CapturePorts(range: 2000...2009)
        let again = ports.insert(2000)
        let new = ports.insert(2011)
        #expect(!again)
        #expect(new)
        #expect(ports.contains(2011))
        #expect(!ports.contains(2010))
    }
}
