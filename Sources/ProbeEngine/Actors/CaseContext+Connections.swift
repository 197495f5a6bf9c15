import ProbeScenario
import ProbeSystem

extension CaseContext {
    /// Adds a connection to the case, so that waiting steps are notified of its changes and the final check includes
    /// it.
    func adopt(_ connection: Connection, for owner: ConnectionActor) {
        connections.add(connection, for: owner)
        StepContext.attempt?.add(connection)
        CaseNotifier(context: self).look(at: connection, of: owner)
        connection.onChange = { [weak self, weak owner] in
            guard let self else { return }
            self.changes.notifyAll()
            guard let owner else { return }
            CaseNotifier(context: self).look(at: owner.connection, of: owner)
            if owner.connection?.hasOverflowed == true { self.raise(ConnectionEvaluation.overflow(of: owner.name)) }
            self.runWheneverBlocks(of: owner)
            owner.dropRest()
        }
    }
}
