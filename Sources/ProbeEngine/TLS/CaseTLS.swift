import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// The TLS state of a case.
struct CaseTLS {
    /// The TLS settings with which an actor's connections begin.
    struct Actor {
        var context: TLSContext
        /// The name that a client sends as SNI, and for which the certificate must be; `nil` if the client verifies
        /// nothing, or verifies the address.
        var name: String?
        var verifies = false
        var certificate = OwnCertificate.other
    }

    /// The certificate that an endpoint presents, for the message if it is refused.
    enum OwnCertificate {
        case issuedByRun
        /// A certificate with this flaw, such as `that has expired`.
        case flawed(String)
        case other
    }

    /// The settings of the actors declared with `tls`, by name.
    var actors: [String: Actor] = [:]
    private(set) var index: TLSIndex?
    /// All TLS layers of the case, in the order in which they began.
    var layers: [TLSLayer] = []
    /// The number of connections that each server has greeted.
    var greeted: [String: Int] = [:]

    init(_ scenario: Scenario) { extend(to: scenario) }

    mutating func extend(to scenario: Scenario) {
        if scenario.speaksTLS { index = TLSIndex(scenario) }
    }

    /// The key log lines of all TLS connections that the harness has had.
    var secrets: [String] { layers.flatMap(\.session.secrets) }

    func forges(_ actor: String) -> Bool { index?.forging.contains(actor) ?? false }
}

extension CaseContext {
    /// Returns the path of the file with the certificate of the run's authority.
    func authorityFile(at span: SourceSpan?) throws(Finding) -> String { try settings.tls.authorityFile(at: span) }
}

extension Connection {
    /// The TLS layer of the connection, from the beginning of its handshake.
    var tls: TLSLayer? { layer as? TLSLayer }
}
