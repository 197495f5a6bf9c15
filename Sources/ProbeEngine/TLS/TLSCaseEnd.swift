import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS
import ProbeTransport

/// Judges the TLS events that remain after the last step: input that no step expected, and record faults that were
/// never applied.
struct TLSCaseEnd {
    let context: CaseContext

    func unexpected() -> Finding? {
        for (owner, connection) in context.connections.entries {
            guard let layer = connection.tls, !owner.ignoresRest, !connection.wasAborted,
                let what = unexpected(layer, layer.taken ?? owner.consumedTLS, owner.name)
            else { continue }
            return Finding(
                .failed, "\(what), which no step expected",
                hints: ["add `\(owner.name) ignore rest` if this event doesn't matter"])
        }
        return nil
    }

    private func unexpected(_ layer: TLSLayer, _ taken: TLSLayer.ConsumedEvents, _ name: String) -> String? {
        if taken.handshakeFailure { return nil }
        let events = layer.events.dropFirst(taken.events).filter { !$0.isUserCanceled }
        if let alert = events.first(where: \.isAlert) { return alert.sentence(of: name) }
        if let trailing = layer.bytesAfterEnd { return "\(name) \(trailing.description)" }
        if taken.end { return nil }
        if let failure = events.first(where: { $0.what != .notify }) { return failure.sentence(of: name) }
        let count = layer.unfinished
        guard count > 0 else { return nil }
        return "\(name) received \(ByteText.count(count, "byte")) of an incomplete TLS record"
    }

    /// Returns a finding if a subject reported handshake parameters that contradict those of the harness; `nil`
    /// otherwise.
    func contradiction(of subject: SubjectActor) -> Finding? {
        guard case .secured(let version, let name, _) = subject.reports.security,
            case .actor(let server)? = subject.target
        else { return nil }
        let layers = context.connections.entries.compactMap { (owner, connection) -> TLSLayer? in
            guard case .accepted(server.value) = owner.role else { return nil }
            return connection.tls
        }
        // An incomplete handshake may belong to the subject's connection, so the parameters can't be compared yet.
        guard !layers.isEmpty, layers.allSatisfy(\.isDone) else { return nil }
        let isTrue = layers.contains {
            $0.session.version == version
                && ($0.session.applicationProtocol ?? "").utf8.elementsEqual(name ?? [])
        }
        if isTrue { return nil }
        let event = SubjectReport.Event.secured(version, protocol: name)
        return Finding(
            .failed,
            "\(subject.name) reported \(SubjectText.describe(event)), but no handshake with \(server.value) "
                + "negotiated these parameters",
            details: layers.map { "a handshake with \(server.value): \($0.summary)" })
    }

    /// Returns a finding for each record fault that was not applied because no record was sent after it.
    func unprovenFaults() -> [Finding] {
        context.tls.layers.compactMap { layer in
            layer.fault.map { _, span in
                Finding(
                    .inconclusive, at: span, "no record was sent after this step, so nothing was corrupted",
                    hints: [
                        "add a `send` after this step: the records of an earlier `start sending` were created before "
                            + "this step"
                    ])
            }
        }
    }
}
