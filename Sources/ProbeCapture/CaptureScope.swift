package import ProbeBase
import ProbeWire

/// Which connections a subscription takes, by who opens them or where they go.
package enum CaptureScope: Sendable, Hashable {
    /// Those that go to a listener of the subscription's owner. Nobody else can listen there: another subscription of a `server` with that
    /// address gets none of them.
    case listener(EndpointPattern)
    /// Those that go to a server outside of the run. Every subscription that names it gets them.
    case server(EndpointPattern)
    /// The next one that leaves this endpoint, which the owner has bound, for that peer. A subscription of the peer as a `server` does not get it.
    case client(SocketEndpoint, peer: SocketEndpoint)

    /// The port that the capture's filter has to let through.
    package var port: UInt16 {
        switch self {
        case .listener(let pattern), .server(let pattern): pattern.port
        case .client(_, let peer): peer.port
        }
    }
}
