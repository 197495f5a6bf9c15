import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// The faults injected by a case's steps that must be visible on the wire: cuts in a send, and closed windows. If a
/// fault is not visible, the case is inconclusive.
struct InjectedFaults {
    /// A `stop reading` step, after which the endpoint's receive window must close.
    struct StoppedReading {
        var connection: Connection
        var owner: ConnectionActor
        var time: MonotonicTime
        var span: SourceSpan
    }

    /// The statements whose sends are cut or carry a FIN, by send operation.
    var cuts: [ObjectIdentifier: SourceSpan] = [:]
    private var stops: [StoppedReading] = []

    /// Records a send whose pieces must be sent as separate segments, or whose last piece must carry the FIN.
    mutating func addSend(_ operation: SendOperation, at span: SourceSpan) {
        if operation.isCut || operation.carriesFIN { cuts[ObjectIdentifier(operation)] = span }
    }

    /// Records an endpoint that stops reading. If the peer keeps sending, the endpoint's window must close.
    mutating func addStop(_ connection: Connection, of owner: ConnectionActor?, at span: SourceSpan) {
        guard let owner else { return }
        if connection.isUnix { return }
        stops.append(StoppedReading(connection: connection, owner: owner, time: .now, span: span))
    }

    /// Returns whether any injected fault must be visible on the wire.
    func needsProof(_ connections: ConnectionTable) -> Bool {
        !stops.isEmpty || connections.entries.contains { !$0.connection.isUnix && !$0.connection.cutSends.isEmpty }
    }

    /// Returns a finding for each send of a connection whose pieces were not sent as separate segments, or whose FIN
    /// was not sent with the last piece.
    func unprovenCuts(of entry: ConnectionTable.Entry, _ context: CaseContext) -> [Finding] {
        // On a Unix socket, each piece is written only after the peer has read the previous one, so no evidence of
        // separate segments is needed.
        if entry.connection.isUnix { return [] }
        let sends = entry.connection.cutSends
        return sends.filter(\.isCut).compactMap { coalesced($0, entry, context) }
            + sends.filter(\.carriesFIN).compactMap { lateFIN(of: $0, entry, context) }
    }

    /// Returns a finding for a send whose FIN was not captured in a segment with data; `nil` otherwise.
    private func lateFIN(
        of operation: SendOperation, _ entry: ConnectionTable.Entry, _ context: CaseContext
    ) -> Finding? {
        let (owner, connection) = entry
        guard case .done = operation.state, !connection.wasAborted else { return nil }
        func inconclusive(_ text: String, _ hints: [String] = []) -> Finding {
            Finding(.inconclusive, at: cuts[ObjectIdentifier(operation)], text, hints: hints)
        }
        guard context.seesPackets else {
            return inconclusive(
                "it is unknown whether the FIN was sent in the segment of the last piece: \(context.captureProblem)")
        }
        if let peer = connection.peer, !context.sees(peer) {
            return inconclusive(
                "the segments of \(owner.name) are unknown: its connection is not on loopback, or there is no capture")
        }
        let loss = context.capture.lossReason
        let names = context.wireNames()
        guard let end = names.end(of: connection) else {
            return inconclusive(loss ?? "\(owner.name)'s connection was not seen on the wire")
        }
        let fins = names.traffic.entries.filter { entry in
            entry.sender == end && entry.summary.map { $0.flags.contains(.fin) } ?? false
        }
        if fins.contains(where: { ($0.summary?.payloadLength ?? 0) > 0 }) { return nil }
        if fins.isEmpty { return inconclusive(loss ?? "\(owner.name)'s FIN was not seen on the wire") }
        return inconclusive(
            loss ?? "\(owner.name)'s FIN was sent in a separate segment",
            loss == nil ? ["send one byte more or less: a full segment has no room for the FIN"] : [])
    }

    private func coalesced(
        _ operation: SendOperation, _ entry: ConnectionTable.Entry, _ context: CaseContext
    ) -> Finding? {
        let span = cuts[ObjectIdentifier(operation)]
        let (owner, connection) = entry
        func inconclusive(_ text: String, _ details: [String] = []) -> Finding {
            Finding(.inconclusive, at: span, text, details: details)
        }
        guard context.seesPackets else {
            return inconclusive(
                "it is unknown whether the pieces were sent in separate segments: \(context.captureProblem)")
        }
        if let peer = connection.peer, !context.sees(peer) {
            return inconclusive(
                "the segments of \(owner.name) are unknown: its connection is not on loopback, or there is no capture")
        }
        // Pieces that were cut off by the end of the connection were never sent. If the send itself failed, its step
        // has already failed.
        let lengths = operation.lengths
        guard case .done = operation.state else { return nil }
        let loss = context.capture.lossReason
        let names = context.wireNames()
        guard let end = names.end(of: connection) else {
            return inconclusive(loss ?? "\(owner.name)'s connection was not seen on the wire")
        }
        switch names.traffic[conversation: end.index].verifyPieces(
            from: end.side, streamOffset: operation.streamOffset, lengths: lengths, names: names.names(end.index))
        {
        // Each piece was captured as a separate segment, so any lost packets don't matter.
        case .exact: return nil
        case .coalesced(let details):
            return inconclusive(
                loss ?? "\(owner.name)'s pieces were not sent in separate segments", loss == nil ? details : [])
        case .notSeen(let what), .inconclusive(let what):
            if connection.wasAborted { return nil }
            return inconclusive(loss ?? "\(owner.name)'s pieces were not all seen on the wire: \(what)")
        }
    }

    /// Returns a finding for each `stop reading` step after which the receive window of the connection never closed,
    /// although the peer was sending with `start sending`.
    func unshutWindows(_ context: CaseContext) -> [Finding] {
        stops.compactMap { stop in
            let names = context.wireNames()
            guard isSentTo(stop, context.connections, names) else { return nil }
            guard context.seesPackets else {
                return Finding(
                    .inconclusive, at: stop.span,
                    "it is unknown whether the window closed: \(context.captureProblem)")
            }
            guard let end = names.end(of: stop.connection) else {
                return Finding(.inconclusive, at: stop.span, "\(stop.owner.name)'s connection was not seen on the wire")
            }
            let since = context.capture.captureTime(of: stop.time)
            if names.traffic[conversation: end.index].shutWindow(of: end.side, since: since) != nil { return nil }
            return Finding(
                .inconclusive, at: stop.span,
                "\(stop.owner.name) stopped reading, but its window never closed while data was sent to it",
                hints: ["limit the window with `with receive-buffer 4KiB`: loopback absorbs more than 4 MB"])
        }
    }

    private func isSentTo(_ stop: StoppedReading, _ connections: ConnectionTable, _ names: WireNames) -> Bool {
        connections.entries.contains { owner, connection in
            guard let background = owner.background, isPeer(connection, of: stop.connection, names) else {
                return false
            }
            if case .done(let time) = background.state { return time > stop.time }
            return true
        }
    }

    /// Whether two connections of the harness are the two ends of the same captured connection.
    private func isPeer(_ connection: Connection, of other: Connection, _ names: WireNames) -> Bool {
        if let end = names.end(of: connection), let otherEnd = names.end(of: other) {
            return end.index == otherEnd.index && end.side != otherEnd.side
        }
        return connection.local == other.peer && connection.peer == other.local
    }
}
