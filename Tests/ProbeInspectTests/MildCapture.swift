import ProbeBase

/// A random capture of flows that are healthy, or have one of the properties that the thresholds of some findings are
/// close to: slow answers, late acknowledgments, small windows, long bursts, long pauses and early ends. The capture is
/// generated from a seed, so that a failure can be reproduced.
struct MildCapture {
    private struct Event {
        var time: UInt64
        var flow: Int
        var side: CaptureBuilder.Side
        var flags: UInt8
        var length = 0
        var skew: Int32 = 0
    }

    private var random: SplitMix64
    private var events: [Event] = []
    private var windows: [UInt16] = []
    private(set) var bytes: [UInt8] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let count = Int.random(in: 1...12, using: &random)
        for flow in 0..<count { addFlow(flow) }
        var capture = CaptureBuilder()
        var connections = (0..<count).map {
            CaptureBuilder.Connection(client: 40_000 + UInt16($0), server: 9_000 + UInt16($0 % 4))
        }
        let start = capture.time
        // The offset breaks ties, because the order of events with the same time matters.
        for (_, event) in events.enumerated().sorted(by: { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        ) {
            capture.time = max(capture.time, start + event.time * 1_000)
            capture.packet(
                connections[event.flow], event.side, flags: event.flags,
                payload: [UInt8](repeating: 0x61, count: event.length), skew: event.skew,
                window: windows[event.flow])
            let sent = UInt32(event.length) + (event.flags & 0x01 == 0 ? 0 : 1)
            if event.side == .client {
                connections[event.flow].clientSent += sent
            } else {
                connections[event.flow].serverSent += sent
            }
        }
        bytes = capture.bytes
    }

    private mutating func choose<Value>(_ usual: Value, _ others: [Value], in count: Int = 6) -> Value {
        Int.random(in: 0..<count, using: &random) == 0 ? others.randomElement(using: &random) ?? usual : usual
    }

    /// Adds a flow. Times are in microseconds.
    private mutating func addFlow(_ flow: Int) {
        windows.append(choose(65_535, [4_000, 8_500, 16_384, 30_000]))
        var time = UInt64.random(in: 0..<200_000, using: &random)
        // The parts of a round trip between the capture point and each side.
        let toClient = choose(100 as UInt64, [5_000, 20_000, 60_000], in: 2)
        let toServer = choose(100 as UInt64, [5_000, 20_000, 60_000], in: 2)
        func add(_ side: CaptureBuilder.Side, _ flags: UInt8, _ length: Int = 0, skew: Int32 = 0) {
            events.append(Event(time: time, flow: flow, side: side, flags: flags, length: length, skew: skew))
        }
        add(.client, 0x02, skew: -1)
        time += toServer + choose(0, [100_000, 180_000, 250_000], in: 12)
        add(.server, 0x12, skew: -1)
        time += toClient
        add(.client, 0x10)
        let late = choose(500 as UInt64, [25_000, 28_500, 31_000, 45_000, 95_000, 110_000], in: 3)
        let think = choose(2_000 as UInt64, [30_000, 150_000, 205_000, 300_000, 480_000, 510_000], in: 3)
        for _ in 0..<Int.random(in: 1...14, using: &random) {
            for side in [CaptureBuilder.Side.client, .server] {
                time += choose(1_000, [think, think / 2]) + (side == .client ? toClient : toServer)
                for _ in 0..<choose(1, [2, 3, 12], in: 3) {
                    let size = choose(300, [10, 90, 1_460], in: 2)
                    add(side, 0x18, size)
                    time += choose(50, [1_000, 30_000, 60_000], in: 4)
                    guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                    time += (side == .client ? toServer : toClient) + late
                    add(side == .client ? .server : .client, 0x10)
                    time += (side == .client ? toClient : toServer) + choose(100, [1_500, 2_500])
                }
            }
        }
        let ends = choose(3, [0, 1, 2])
        if ends > 0 { add(.client, 0x11) }
        time += toServer + choose(100, [1_000_000, 2_100_000])
        if ends > 1 { add(.server, 0x11) }
        time += toClient
        if ends > 2 { add(.client, 0x10) }
    }
}
