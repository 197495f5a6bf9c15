import ProbeBase
import ProbeEvents
import ProbeSystem

/// What is left of TLS after the last step: what came and no step has expected, and faults that were never on the wire.
struct TLSCaseEnd {
    let context: CaseContext

    func unexpected() -> Finding? {
        for (owner, connection) in context.connections.entries {
            guard let layer = connection.tls, !owner.ignoresRest, !connection.wasAborted,
                let what = unexpected(layer, layer.taken ?? owner.takenOfTLS)
            else { continue }
            return Finding(
                .failed, "\(owner.name): \(what), and no step expected that",
                hints: ["`\(owner.name) ignore rest` says that it does not matter"])
        }
        return nil
    }

    private func unexpected(_ layer: TLSLayer, _ taken: TLSLayer.Taken) -> String? {
        if taken.handshakeFailure { return nil }
        // A warning that a close_notify follows is no news.
        let alerts = layer.alerts.dropFirst(taken.alerts).filter { $0.alert.code != TLSAlert.userCanceled }
        if let (alert, _) = alerts.first { return "the peer sent the alert \(alert) (\(alert.code))" }
        if let (count, _) = layer.behindNotify { return "\(ByteText.count(count, "byte")) came behind close_notify" }
        if taken.end { return nil }
        if let failure = layer.failure(behindAlerts: taken.alerts) { return "TLS failed (\(failure.reason))" }
        let count = layer.unfinished
        guard count > 0 else { return nil }
        return "\(ByteText.count(count, "byte")) came that are no whole TLS record"
    }

    /// A bit that was to be flipped, and no record to flip it in.
    func unprovenFaults() -> [Finding] {
        context.tls.layers.compactMap { layer in
            layer.corruption.map { span in
                Finding(
                    .inconclusive, at: span, "no record was sent behind this step: nothing was corrupted",
                    hints: [
                        "a `start sending` before it has made its records already; a `send` behind it makes new ones"
                    ])
            }
        }
    }
}
