package import ProbeBase
package import ProbeScenario
package import ProbeWire

extension WireStatement<Resolved> {
    /// Returns this statement as an assertion about one connection.
    ///
    /// - Parameter side: the side of the first actor that the statement names.
    package func assertion(from side: ConversationSide) -> WireAssertion {
        switch self {
        case .halfConnection(_, _, let statement): .halfConnection(statement, from: side)
        case .fin: .fin(from: side)
        case .rst: .rst(from: side)
        case .noReset: .noReset
        case .closedFirst: .closedFirst(by: side)
        case .handshakeComplete: .handshakeComplete
        case .noRetransmission: .noRetransmission
        case .packets(let comparison, let count): .packets(comparison, count)
        case .arrived(let statement): statement.assertion(from: side)
        }
    }
}
