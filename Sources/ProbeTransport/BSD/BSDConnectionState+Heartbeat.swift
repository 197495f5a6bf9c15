/// The heartbeats of a connection, and the silence of its peer.
extension BSDConnectionState {
    /// What is known of both.
    struct Heartbeat: Sendable {
        /// When a byte was last handed over to be written, or written.
        var lastSent: Int64 = 0
        /// When something last came that counts as life, or reading began again.
        var lastHeard: Int64 = 0
        /// Bytes of a heartbeat at the front of the queue, which no `sent` counts.
        var unwritten = 0

        /// The connection is open.
        mutating func begin(now: Int64) { (lastSent, lastHeard) = (now, now) }

        /// How many of the bytes that were written belong to messages.
        mutating func counted(_ written: Int) -> Int {
            let ours = min(unwritten, written)
            unwritten -= ours
            return written - ours
        }
    }

    /// A message came that is the answer to a heartbeat.
    mutating func heardAnswer(now: Int64) { heartbeat.lastHeard = now }

    /// When the next heartbeat is due, or the peer's silence is too long.
    var heartbeatDeadline: Int64? {
        switch (beatDeadline, silenceDeadline) {
        case (let beat?, let silence?): min(beat, silence)
        case (let beat, let silence): beat ?? silence
        }
    }

    /// Bytes that wait will be written: they are life enough.
    private var beatDeadline: Int64? {
        guard let beat = limits.beat, !outgoing.isEnding, outgoing.isEmpty, outgoing.failure == nil else { return nil }
        return Limits.time(heartbeat.lastSent, plus: beat.interval)
    }

    /// Whoever does not read hears nothing, and behind a FIN nothing has to come.
    private var silenceDeadline: Int64? {
        guard let silence = limits.silence, !paused, !readEnded, !outgoing.isEnding else { return nil }
        return Limits.time(heartbeat.lastHeard, plus: silence)
    }

    /// Whether the peer has been silent for too long.
    func isSilenceDue(now: Int64) -> Bool { silenceDeadline.map { now >= $0 } ?? false }

    /// Queues a heartbeat that is due. Of a connection that is started.
    mutating func beatIfDue(now: Int64) {
        guard let beat = limits.beat, let beatDeadline, now >= beatDeadline else { return }
        heartbeat.lastSent = now
        heartbeat.unwritten = beat.frame.count
        outgoing.append(beat.frame)
    }
}
