import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// What a case has of TLS.
struct CaseTLS {
    /// What a connection of an actor begins with.
    struct Actor {
        var context: TLSContext
        /// What a client sends as SNI, and what it wants the certificate to be for; nil: it verifies nothing, or the address.
        var name: String?
        var verifies = false
        var certificate = OwnCertificate.other
    }

    /// What an endpoint shows of itself, for the message where it is refused.
    enum OwnCertificate {
        case ofTheRun
        /// What is wrong with it, as `that has expired`.
        case flawed(String)
        case other
    }

    /// By the names of the actors that were declared with `tls`.
    var actors: [String: Actor] = [:]
    private(set) var index: TLSIndex?
    /// All of the case, in the order in which they began.
    var layers: [TLSLayer] = []
    /// Connections that servers have greeted.
    var greeted: [String: Int] = [:]

    init(_ scenario: Scenario) { extend(to: scenario) }

    mutating func extend(to scenario: Scenario) {
        if scenario.speaksTLS { index = TLSIndex(scenario) }
    }

    /// The lines of the key log of all connections with TLS that the harness has had.
    var secrets: [String] { layers.flatMap(\.session.secrets) }

    func forges(_ actor: String) -> Bool { index?.forging.contains(actor) ?? false }
}

extension CaseContext {
    /// The file of the run's authority.
    func authorityFile(at span: SourceSpan?) throws(Finding) -> String { try settings.tls.authorityFile(at: span) }
}

extension Connection {
    /// TLS on it, from the beginning of its handshake on.
    var tls: TLSLayer? { layer as? TLSLayer }
}
