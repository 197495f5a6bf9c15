import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// The TLS state of a case.
struct CaseTLS {
    /// The TLS settings of an actor, with which its connections begin.
    struct Actor {
        var context: TLSContext
        /// The server's name. A client sends this name as SNI, and the server's certificate must be valid for it. `nil`
        /// if the client doesn't verify the certificate, or verifies it against the address.
        var name: String?
        var verifies = false
        var certificate = OwnCertificate.other
    }

    /// The origin of the certificate that an endpoint presents. The message about a refused certificate mentions this
    /// origin.
    enum OwnCertificate {
        case issuedByRun
        /// The flaw as a clause that follows "a certificate", such as `that has expired`.
        case flawed(String)
        case other
    }

    /// The TLS settings of the actors declared with `tls`, by the actors' names.
    var actors: [String: Actor] = [:]
    private(set) var index: TLSIndex?
    /// All TLS layers of the case, in the order in which they began.
    var layers: [TLSLayer] = []
    /// The number of connections that the harness has accepted for each server with `tls`, by the server's name.
    var greeted: [String: Int] = [:]

    init(_ scenario: Scenario) { extend(to: scenario) }

    mutating func extend(to scenario: Scenario) {
        if scenario.speaksTLS { index = TLSIndex(scenario) }
    }

    /// The key log lines of all of the harness's TLS connections in this case.
    var secrets: [String] { layers.flatMap(\.session.secrets) }

    func forges(_ actor: String) -> Bool { index?.forging.contains(actor) ?? false }
}

extension CaseContext {
    /// Returns the path of the file that contains the certificate of the run's certificate authority.
    func authorityFile(at span: SourceSpan?) throws(Finding) -> String { try settings.tls.authorityFile(at: span) }
}

extension Connection {
    /// The connection's TLS layer; `nil` before the handshake begins.
    var tls: TLSLayer? { layer as? TLSLayer }
}
