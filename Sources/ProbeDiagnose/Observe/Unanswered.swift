/// The packets that a side has sent since the peer's last packet.
struct Unanswered: Sendable {
    /// The maximum number of transmissions of the same data.
    private(set) var count = 0
    /// The time of the first of these packets.
    private(set) var since: Int64 = 0
    private var firstPacket = 0
    private var later = Evidence()
    /// The position of the first data that was sent for the first time in this period.
    private var newData: Int64 = 0
    /// The number of transmissions of the data at each of the first positions that were sent again.
    private var repeats: [(position: Int64, count: Int)] = []

    var evidence: Evidence {
        var evidence = Evidence(firstPacket)
        evidence.add(later)
        return evidence
    }

    /// Counts a packet that is always the same, such as a keep-alive.
    mutating func add(_ packet: DiagnosedPacket) {
        if count == 0 { begin(packet, newData: 0) } else { later.add(packet.number) }
        count += 1
    }

    private mutating func begin(_ packet: DiagnosedPacket, newData: Int64) {
        since = packet.time
        firstPacket = packet.number
        self.newData = newData
    }

    /// Counts a transmission of data. New data only begins a period, because a sender may send many segments before
    /// the first acknowledgment arrives.
    mutating func noteSend(_ packet: DiagnosedPacket, newData: Int64, isRepeat: Bool) {
        if count == 0 {
            begin(packet, newData: newData)
            count = 1
            if isRepeat { repeats.append((packet.start, 1)) }
            return
        }
        guard isRepeat else { return }
        let index = repeats.firstIndex { $0.position == packet.start } ?? repeats.count
        if index == repeats.count {
            guard index < 16 else { return }
            repeats.append((packet.start, packet.start >= self.newData ? 1 : 0))
        }
        repeats[index].count += 1
        guard repeats[index].count > count else { return }
        count = repeats[index].count
        later.add(packet.number)
    }
}
