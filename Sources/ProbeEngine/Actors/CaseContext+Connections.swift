import ProbeScenario
import ProbeSystem

extension CaseContext {
    /// Takes a connection into the case: its changes are noticed, and the last look sees it.
    func adopt(_ connection: Connection, for owner: ConnectionActor) {
        connections.add(connection, for: owner)
        StepContext.attempt?.add(connection)
        CaseNewsTeller(context: self).look(at: connection, of: owner)
        connection.onChange = { [weak self, weak owner] in
            guard let self else { return }
            self.changes.notifyAll()
            guard let owner else { return }
            CaseNewsTeller(context: self).look(at: owner.connection, of: owner)
            if owner.connection?.hasOverflowed == true { self.raise(ConnectionEvaluation.overflow(of: owner.name)) }
            self.serveWhenevers(of: owner)
            owner.dropRest()
        }
    }
}
