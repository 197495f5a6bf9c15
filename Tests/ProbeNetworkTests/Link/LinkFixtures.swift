import ProbeBase

@testable import ProbeLink

/// A link that carries the frames of one connection. The test controls its clock, and issues commands and queries step
/// by step.
struct LinkHarness {
    var core = LinkCore()
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var nextID = 0

    mutating func advance(_ duration: Duration) {
        now = now + duration
        core.tick(now: now, wall: UInt64(now.nanoseconds))
    }

    @discardableResult
    mutating func apply(_ command: LinkCommand<Resolved>, from side: LinkSide? = .left) throws -> Int {
        defer { nextID += 1 }
        try core.apply(command, id: nextID, from: side, now: now, wall: UInt64(now.nanoseconds))
        return nextID
    }

    /// Passes a frame to the link.
    ///
    /// - Returns: the frames that the link then sends, including frames that had waited for the given frame.
    @discardableResult
    mutating func pass(_ frame: [UInt8], from side: LinkSide = .left) -> [LinkCore.Outgoing] {
        core.receive(frame, from: side, now: now, wall: UInt64(now.nanoseconds))
        return core.takeOutgoing()
    }

    /// Opens a connection from the right side to the left side.
    mutating func open(_ frames: SegmentFrames = SegmentFrames()) {
        pass(frames.segment(from: .right, flags: 2, sequence: 99, acknowledgment: 0), from: .right)
        pass(frames.segment(from: .left, flags: 18, sequence: 499, acknowledgment: 100))
        pass(frames.segment(from: .right, flags: 16, sequence: 100, acknowledgment: 500), from: .right)
    }

    /// Sends a data segment of 10 bytes from the left side; the first segment has the number 1.
    mutating func data(_ number: Int, _ frames: SegmentFrames = SegmentFrames()) -> [LinkCore.Outgoing] {
        pass(frames.data(number))
    }
}

/// Builds the segments of one connection over IPv4 or IPv6.
struct SegmentFrames {
    var isIPv6 = false
    var mayFragment = false
    var size = 10

    /// Returns the data segment of the left side with the given number, counted from 1.
    func data(_ number: Int) -> [UInt8] {
        segment(
            from: .left, flags: 24, sequence: UInt32(500 + (number - 1) * size), acknowledgment: 100,
            payload: [UInt8](repeating: UInt8(truncatingIfNeeded: 64 + number), count: size))
    }

    func segment(
        from side: LinkSide, flags: UInt8, sequence: UInt32, acknowledgment: UInt32, window: UInt16 = 1000,
        options: [UInt8] = [], payload: [UInt8] = []
    ) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let ports: [UInt8] = side == .left ? [0x10, 0, 0x20, 0] : [0x20, 0, 0x10, 0]
        let tcp =
            ports + word(sequence) + word(acknowledgment) + [UInt8((20 + options.count) / 4) << 4, flags]
            + [UInt8(window >> 8), UInt8(window & 255), 0, 0, 0, 0] + options + payload
        let ethernet: [UInt8] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1] + (isIPv6 ? [0x86, 0xdd] : [8, 0])
        var frame = ethernet
        if isIPv6 {
            let own = [UInt8](repeating: side == .left ? 1 : 2, count: 16)
            let other = [UInt8](repeating: side == .left ? 2 : 1, count: 16)
            frame += [0x60, 0, 0, 0, UInt8(tcp.count >> 8), UInt8(tcp.count & 255), 6, 64] + own + other
        } else {
            let length = tcp.count + 20
            frame += [0x45, 0, UInt8(length >> 8), UInt8(length & 255), 0, 1, mayFragment ? 0 : 0x40, 0, 64, 6, 0, 0]
            frame += side == .left ? [10, 77, 0, 1, 10, 77, 0, 2] : [10, 77, 0, 2, 10, 77, 0, 1]
        }
        frame += tcp
        let view = LinkFrame(frame)
        if let tcp = view.tcp { FrameEdit.seal(&frame, view, tcp) }
        return frame
    }

    /// Returns whether the TCP checksum of a frame is correct, that is, whether computing it again leaves the frame
    /// unchanged.
    static func isSound(_ frame: [UInt8]) -> Bool {
        let view = LinkFrame(frame)
        guard let tcp = view.tcp else { return false }
        var sealed = frame
        FrameEdit.seal(&sealed, view, tcp)
        return sealed == frame
    }
}
