import ProbeBase
import ProbeEvents
package import ProbeSystem

/// An event on a connection of a case, for an observer. Delivered on the case's thread.
package enum CaseNews: Sendable {
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
struct CaseNewsTeller {
    let context: CaseContext

    func look(at connection: Connection?, of owner: ConnectionActor) {
        guard let tell = context.tell, let connection else { return }
        if connection.receiveBuffer.keepArrivals() { tell(.opened(actor: owner.name)) }
        let arrivals = connection.receiveBuffer.takeArrivals()
        if !arrivals.isEmpty { tell(.arrived(actor: owner.name, arrivals)) }
        if connection.hasOverflowed { tell(.failed(ConnectionEvaluation.overflow(of: owner.name).summary)) }
        if let end = connection.readEnd, owner.toldEnd !== connection {
            owner.toldEnd = connection
            tell(.ended(actor: owner.name, end))
        }
    }
}
