import ProbeBase
import ProbeEvents
package import ProbeSystem

/// An event on a connection of a case, delivered to an observer on the case's thread.
package enum CaseNotification: Sendable {
    /// The actor has a new connection.
    case opened(actor: String)
    /// Bytes arrived on the actor's connection. With TLS, the bytes are the plaintext of the connection's records.
    case arrived(actor: String, [ReceiveBuffer.Arrival])
    /// The peer ended its direction of the connection.
    case ended(actor: String, Connection.ReadEnd)
    /// The connection received more bytes than the harness keeps, so no more are read.
    case failed(String)
}

/// Notifies the observer about what has arrived on a connection since the last call.
struct CaseNotifier {
    let context: CaseContext

    func look(at connection: Connection?, of owner: ConnectionActor) {
        guard let notifyObserver = context.notifyObserver, let connection else { return }
        if connection.receiveBuffer.keepArrivals() { notifyObserver(.opened(actor: owner.name)) }
        let arrivals = connection.receiveBuffer.takeArrivals()
        if !arrivals.isEmpty { notifyObserver(.arrived(actor: owner.name, arrivals)) }
        if connection.hasOverflowed { notifyObserver(.failed(ConnectionEvaluation.overflow(of: owner.name).summary)) }
        if let end = connection.readEnd, owner.reportedEnd !== connection {
            owner.reportedEnd = connection
            notifyObserver(.ended(actor: owner.name, end))
        }
    }
}
