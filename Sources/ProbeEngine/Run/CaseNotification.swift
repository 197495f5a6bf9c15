import ProbeBase
import ProbeEvents
package import ProbeSystem

/// An event on a connection of a case, for an observer. Delivered on the case's thread.
package enum CaseNotification: Sendable {
    /// The name refers to a new connection.
    case opened(actor: String)
    /// Bytes arrived; with TLS, the contents of its records.
    case arrived(actor: String, [ReceiveBuffer.Arrival])
    /// The peer ended its direction.
    case ended(actor: String, Connection.ReadEnd)
    /// More bytes arrived than are kept: no more are read.
    case failed(String)
}

/// Reports what has arrived on a connection since the last look.
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
