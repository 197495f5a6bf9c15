import ProbeBase
import ProbeWire

/// Observations about one side of a flow: what the side sent, and what the packets of its peer reveal about that. All
/// positions are relative to the side's SYN, which is at position 0. All times are in nanoseconds since the flow's
/// first packet.
///
/// This is a class because most functions select one of the two sides, and a large struct would be copied.
// @unchecked: see `FlowObservation`.
@dynamicMemberLookup
final class SideObservation: @unchecked Sendable {
    var rare = RareObservation.none

    /// What was observed about rare events.
    subscript<Value>(dynamicMember path: WritableKeyPath<RareObservation, Value>) -> Value {
        _read { yield rare.value[keyPath: path] }
        _modify { yield &rare.value[keyPath: path] }
    }

    // MARK: The packets of the side

    var packetCount = 0
    var dataPacketCount = 0
    var payloadLength: Int64 = 0
    /// The time of the side's last packet.
    var lastTime: Int64 = 0
    var largestPayload = 0
    /// The payload sizes of the side's segments, which show whether the side sends many small segments.
    var sizes = SampleSeries<UInt32>(capacity: 32)
    /// The number of segments with less than 100 bytes of data that were sent within 10 ms of the previous segment from
    /// the same side.
    var rapidSmallCount = 0
    var hasOffload = false

    // MARK: The SYN

    var syn: SentSYN?
    var synPackets = Evidence()
    var synCount = 0
    /// The packets with which the peer reported that it had received the SYN twice.
    var repeatedSYNs = Evidence()
    /// The time of the last SYN.
    var lastSYNTime: Int64 = 0

    // MARK: The stream

    /// The position after the last byte that the side has sent.
    var sentEnd: Int64 = 0
    /// The position up to which the peer has acknowledged the side's stream.
    var acknowledged: Int64 = 0
    var acknowledgedTime: Int64 = 0
    /// The time of the last transmission of data.
    var lastDataTime: Int64?
    var lastDataPacket = 0
    var fin: Close?
    var finAcknowledged: Close?
    var log = SegmentLog()
    var progress = MessageProgress()
    /// The ranges of the stream that the capture doesn't contain so far.
    var holes: [Hole] = []

    struct Close: Sendable {
        var time: Int64
        var packet: Int
        var position: Int64
    }

    struct Hole: Sendable {
        var start: Int64
        var end: Int64
        /// The number of the packet that revealed the hole.
        var packet: Int
        var time: Int64
        var isAcknowledged = false
    }

    // MARK: The peer's windows

    var edges = WindowEdges()
    /// The position that the peer had acknowledged when it last moved the edge of its window.
    var movedAt: Int64 = 0
    /// Whether the scale of the peer's window is unknown.
    var isRoomUnknown = false
    /// The largest window that the peer advertised after the handshake. `windows` contains samples of the advertised
    /// windows, with their times.
    var largestWindow: Int = 0
    var windows = SampleSeries<(time: Int64, window: Int)>(capacity: 16)
    var zero: ZeroWindow?

    /// The time for which closed windows blocked the side.
    struct ZeroWait: Sendable {
        /// The total, in nanoseconds.
        var time: Int64 = 0
        /// The time at which the side was blocked for the first time.
        var first: Int64?
        var evidence = Evidence()
    }

    /// A period in which the peer's window is closed.
    struct ZeroWindow: Sendable {
        var time: Int64
        var packet: Int
        /// Whether the side had used the entire window by the time the window closed.
        var wasFilled: Bool
        var isProbed = false
        var openedAt: Int64?
    }

    // MARK: Delays

    /// The shortest time from a packet of this side to its acknowledgment, as seen at the capture point.
    var shortestDelay: Int64?
    /// The shortest time from a packet with data to its acknowledgment, as seen at the capture point.
    var shortestDataDelay: Int64?
    /// The delays of segments that were sent while several segments were in flight, so that a queue could form.
    var loadedDelays = SampleSeries<Int64>(capacity: 64)
    var queueing = Correlation()
    var slowestDelay: (delay: Int64, packet: Int)?
    /// Measures the delays between the peer's acknowledgments and the data that this side sends in response to them.
    var echo = EchoClock()
    /// The path's delivery rate, measured once per round trip.
    var rate = DeliveryRate()
    var receiveWindowTime: Int64 = 0
    var applicationTime: Int64 = 0
    var transferTime: Int64 = 0

    // MARK: Losses

    var duplicateAcks = 0
    var hasSACKSinceAcknowledgment = false
    /// The position that the peer must acknowledge to end the recovery; `nil` outside a recovery.
    var recoveryEnd: Int64?
    var repeats: [Repeat] = []
    /// The IP identification of the most recent new segment. `lastStamp` is its timestamp.
    var lastIdentification: UInt16 = 0
    var lastStamp: UInt32?
    var trigger = RepeatTrigger()
    /// The position after all data that had been sent when data was last sent again. The acknowledgments up to this
    /// position may have waited until the data that was sent again arrived.
    var repairEnd: Int64 = 0
    var backoff: Backoff?
    /// A hole that was filled in small pieces; `nil` if there is none.
    var pieces: Pieces?
    /// The size of the largest payload that the peer acknowledged.
    var largestAcknowledged = 0
    /// The size of the smallest payload that was sent since the peer's last packet.
    var smallestUnanswered = Int.max
    /// The ranges that the peer's most recent SACK blocks reported. `dropped` contains the ranges that the peer has
    /// stopped reporting.
    var sacked: [Range<Int64>] = []
    var dropped: [Range<Int64>] = []
    /// What the side has sent since the peer's last packet: data and FINs, and keep-alives.
    var unanswered = Unanswered()
    var unansweredKeepAlives = Unanswered()

    /// Ends the silence of the peer.
    func answer() {
        if unanswered.count > 0 { unanswered = Unanswered() }
        if unansweredKeepAlives.count > 0 { unansweredKeepAlives = Unanswered() }
        smallestUnanswered = Int.max
    }

    struct LossCount: Sendable {
        /// The number of packets that were lost after the capture point. `before` is the number of packets that were
        /// lost before it.
        var after = 0
        var before = 0
        var evidence = Evidence()
        /// Whether a SACK block confirmed the loss of a packet whose first transmission was captured.
        var isProven = false
        var count: Int { after + before }
    }

    /// A packet that was sent again.
    struct Repeat: Sendable {
        var start: Int64
        var end: Int64
        var time: Int64
        var packet: Int
        var stamp: UInt32?
        /// The number of bytes of data, which is 0 for a FIN alone.
        var payload: Int64
        /// Whether the first transmission was captured.
        var isCaptured: Bool
        var isProbe: Bool
        var isSpurious = false
        /// Whether the peer has reported that it received the data twice.
        var isReported = false
        /// For a probe, whether the peer's answer has been examined to determine if the original segment arrived.
        var isSettled = false
        /// Whether the packet is counted in `lost`.
        var isCounted: Bool
        var timeout: Timeout?

        /// A wait for the retransmission timer.
        struct Timeout: Sendable {
            var wait: Int64
            /// The part of the wait that the time budget attributes to timeouts.
            var attributed: Int64
            /// The number of the packet whose data was sent again; 0 if it was not captured.
            var original: Int
        }
    }

    /// Data that was sent again after a timeout.
    struct Backoff: Sendable {
        var position: Int64
        var timeouts: Int
        /// The time at which the first wait began.
        var since: Int64
        var lastTime: Int64
    }

    /// A hole of at least one full segment that was filled with smaller segments after a timeout.
    struct Pieces: Sendable {
        var end: Int64
        /// The number of bytes that were missing.
        var missing: Int64
        /// The size of a full segment.
        var segment: Int64
        /// The size of the first piece. `count` is the number of pieces of this size.
        var payload: Int
        var count = 1
        /// The time for which the hole was open.
        var wait: Int64
        var evidence: Evidence
    }

    struct Stuck: Sendable {
        var position: Int64
        var end: Int64
        var payload: Int
        var copies: Int
        var evidence: Evidence
        var time: Int64
        /// Whether the peer has acknowledged, or reported in a SACK block, a smaller packet that was sent after the
        /// stuck packet.
        var isPassed = false
        /// Whether a part of the data was sent again in a smaller packet.
        var isSplit = false
    }

    // MARK: Waits

    /// The last segment, if it was small; otherwise `nil`. It is used to detect the effect of Nagle's algorithm.
    var small: (time: Int64, end: Int64, packet: Int, length: Int64)?
    /// The number of small segments that the side sent although a small segment was outstanding, which Nagle's algorithm
    /// doesn't allow.
    var unheldCount = 0
    /// The acknowledgment of that segment, and the number of bytes that the peer's window allowed the side to send until
    /// then; `nil` if it is unknown.
    var smallAcknowledged: (time: Int64, packet: Int, room: Int64?)?
    /// Whether the side's small segments show that it doesn't use Nagle's algorithm.
    var isNagleRefuted: Bool { unheldCount >= 2 }
    /// The times that the server took to send data after it received data from the client.
    var answers = SampleSeries<Int64>(capacity: 64)
    var slowestAnswer: (wait: Int64, request: Int, answer: Int)?
    var isAnswerAcknowledged = true
    /// Whether each late answer is known to be one, because the framing of the protocol is known.
    var isAnswerFramed = true
    /// The message that is currently being sent in several segments. `worstDrip` is an earlier message that was sent
    /// slowly.
    var drip: Drip?

    /// A message that is sent in several segments.
    struct Drip: Sendable {
        var since: Int64
        var last: Int64
        var firstPacket: Int
        var lastPacket: Int
        var segments = 1
        var bytes: Int

        /// Whether the message takes so long that it ties up its receiver.
        var isSlow: Bool {
            let time = last - since
            return segments >= 5 && time >= 10_000_000_000 && Double(bytes) / (Double(time) / 1e9) < 50
        }
    }

    // MARK: Headers

    var hop = HeaderPattern()
    var timestamps = TimestampClock()
    var recent = RecentHeaders()
    /// The number of packets that the capture contains twice.
    var copyCount = 0

    /// Frees what is needed only to judge further packets, when the connection has been closed.
    func releaseHistory() {
        if outstanding == 0 { log = SegmentLog() }
        recent.forget()
        edges.forget()
        // A series of measurements is kept only if a finding may be based on it.
        let slow = 100 * Time.millisecond
        if rapidSmallCount < 100, self.pauseCount < 3 { sizes.removeAll() }
        if receiveWindowTime * 2 < transferTime { windows.removeAll() }
        if !loadedDelays.samples.contains(where: { $0 > (shortestDelay ?? 0) + slow }) { loadedDelays.removeAll() }
        echo.release(unlessAbove: slow)
    }

    /// The number of bytes that have been sent but not acknowledged, including a FIN.
    var outstanding: Int64 { max(0, sentEnd - acknowledged) }

    /// The position after the last byte of data that was sent. A FIN is not data.
    var dataEnd: Int64 { fin?.position ?? sentEnd }

    /// Whether all data that the peer has not acknowledged is a TLS alert, or what looks like one in TLS 1.3.
    var isOnlyAlertOutstanding: Bool {
        let bytes = dataEnd - max(acknowledged, 1)
        guard bytes > 0 else { return true }
        let tls = progress.tls
        guard progress.kind == .tls, !tls.isInsideRecord, bytes <= Int64(tls.lastLength) + 5 else { return false }
        return tls.lastType == 21 || (tls.lastType == 23 && tls.mayHaveCloseNotify)
    }

    /// Returns the number of bytes that the peer's window allows the side to send at the given time; `nil` if it is
    /// unknown.
    func room(at time: Int64, delay: Int64) -> Int64? {
        guard let edge = edges.inForce(at: time, delay: delay) else { return nil }
        return edge.edge - sentEnd
    }
}

/// Measures the time from a packet of the peer to the first data that echoes the packet's timestamp (RFC 7323, section
/// 4). Only a few measurements are in progress at the same time.
struct EchoClock: Sendable {
    private struct Question: Sendable {
        var stamp: UInt32
        var time: Int64
        var acknowledgment: Int64
    }

    private var pending: [Question] = []
    private(set) var shortest: Int64?
    private(set) var latest: Int64 = 0
    private(set) var delays = SampleSeries<Int64>(capacity: 64)
    private(set) var queueing = Correlation()
    private static let capacity = 8

    /// Discards the delays, unless one of them exceeds the minimum by more than `rise`.
    mutating func release(unlessAbove rise: Int64) {
        if !delays.samples.contains(where: { $0 > (shortest ?? 0) + rise }) { delays.removeAll() }
        pending = []
    }

    /// Begins a measurement at a packet from the peer.
    mutating func ask(_ stamp: UInt32, acknowledgment: Int64, at time: Int64) {
        let spacing = max(2_000_000, (shortest ?? 0) / 4)
        guard pending.count < Self.capacity, pending.last.map({ time - $0.time >= spacing }) ?? true else { return }
        pending.append(Question(stamp: stamp, time: time, acknowledgment: acknowledgment))
    }

    /// Ends the measurements of all packets whose timestamps are not later than `echo`, the timestamp that a packet
    /// with data echoes.
    ///
    /// - Parameters:
    ///   - end: the position after the data. The bytes between the acknowledgment and this position were in flight.
    ///   - gap: the time since the side's last data. After a pause, the data was not sent in response to the
    ///     acknowledgment.
    mutating func answer(_ echo: UInt32, end: Int64, gap: Int64, at time: Int64) {
        while let first = pending.first, Int32(bitPattern: echo &- first.stamp) >= 0 {
            pending.removeFirst()
            let delay = time - first.time
            guard gap <= max(delay / 4, 3_000_000) else { continue }
            shortest = min(shortest ?? delay, delay)
            latest = delay
            guard end - first.acknowledgment >= FlowObservation.queueingFlight else { continue }
            delays.append(delay)
            queueing.add(Double(end - first.acknowledgment), Double(delay))
        }
    }
}

/// The rate at which the path delivers data, measured once per round trip from the acknowledgments.
struct DeliveryRate: Sendable {
    private var start: Int64 = 0
    private var startPosition: Int64 = 0
    private var rate = 0.0
    /// The number of consecutive round trips in which the rate was constant to within 10 % while the round-trip time
    /// was well above its minimum.
    private(set) var steadyCount = 0

    var isSteady: Bool { steadyCount >= 8 }

    mutating func note(_ position: Int64, at time: Int64, delay: Int64, shortest: Int64) {
        guard delay > 0 else { return }
        if start == 0 {
            (start, startPosition) = (time, position)
            return
        }
        let elapsed = time - start
        guard elapsed >= delay else { return }
        let new = Double(position - startPosition) / Double(elapsed)
        let isQueued = delay > shortest + shortest / 2 && delay > shortest + 5_000_000
        steadyCount = isQueued && rate > 0 && abs(new - rate) <= rate / 10 ? steadyCount + 1 : 0
        rate = new
        (start, startPosition) = (time, position)
    }
}
