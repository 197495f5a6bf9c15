import ProbeWire
import Testing

struct SequenceNumberTests {
    @Test(
        arguments: [
            (5, 3, 2), (3, 5, -2), (0, UInt32.max, 1), (UInt32.max, 0, -1), (0x8000_0000, 0, Int(Int32.min)),
            (0x7fff_ffff, 0, 0x7fff_ffff), (10, 0xffff_fff0, 26),
        ] as [(UInt32, UInt32, Int)])
    func differenceWrapsAround(left: UInt32, right: UInt32, distance: Int) {
        #expect(SequenceNumber(left) - SequenceNumber(right) == distance)
        #expect(SequenceNumber(right) + distance == SequenceNumber(left))
    }
}
