import ProbeBase
import ProbeEvents
package import ProbeSystem

/// What happens to the connections of a case, for somebody who watches it. Told on the case's thread.
package enum CaseNews: Sendable {
    /// A name stands for a new connection.
    case opened(actor: String)
    /// Bytes have come; of one that speaks TLS what was in its records.
    case arrived(actor: String, [ReceiveBuffer.Arrival])
    /// The peer has ended its direction.
    case ended(actor: String, Connection.ReadEnd)
    /// More has come than is kept: no more is read.
    case failed(String)
}

/// Tells what has come on a connection since this was last asked.
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
