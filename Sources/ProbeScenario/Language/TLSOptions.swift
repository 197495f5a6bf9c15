package import ProbeBase

/// The options that follow `tls` in a declaration, or `start tls` in a step.
package struct TLSOptions: Sendable {
    /// The certificate of the actor itself.
    package enum Certificate: Sendable {
        /// A flawed certificate that is generated for the case: `cert expired`.
        case flawed(Flaw)
        /// A certificate that is generated for the case and issued for another name: `cert for "other.test"`.
        case named(Expression)
        /// A certificate from a file: `cert "a.pem" key "a.key"`. The paths are relative to the script's folder.
        /// Without `key`, the certificate's file also contains the key.
        case file(Expression, key: Expression?)
        /// A client certificate issued by the run's certificate authority: `cert run`.
        case issuedByRun
    }

    /// The flaw in a generated certificate.
    package enum Flaw: String, Sendable, CaseIterable {
        case expired
        case notYetValid = "not-yet-valid"
        case selfSigned = "self-signed"
        case unknownAuthority = "unknown-ca"
    }

    /// The certificate authority that a client or a subject trusts.
    package enum Trust: Sendable {
        /// The certificate authority of the run.
        case run
        /// An authority from a file: `ca "a.pem"`. The path is relative to the script's folder.
        case file(Expression)
    }

    package enum ClientCertificate: String, Sendable, CaseIterable { case asked, required }

    package var certificate: Certificate?
    package var trust: Trust?
    package var name: Expression?
    package var version: TLSVersion?
    package var protocols: [Expression] = []
    package var tickets: Expression?
    package var clientCertificate: ClientCertificate?
    /// The span of the options, from the word `tls` on.
    package var span: SourceSpan

    package init(span: SourceSpan) { self.span = span }

    /// Returns these options, with each unset option taken from `base`.
    package func over(_ base: TLSOptions?) -> TLSOptions {
        guard let base else { return self }
        var options = self
        options.certificate = certificate ?? base.certificate
        options.trust = trust ?? base.trust
        options.name = name ?? base.name
        options.version = version ?? base.version
        if protocols.isEmpty { options.protocols = base.protocols }
        options.tickets = tickets ?? base.tickets
        options.clientCertificate = clientCertificate ?? base.clientCertificate
        return options
    }

    var values: [ValueCheck] {
        var values = protocols.map { ValueCheck.name($0, "a protocol name", 1...255) }
        switch certificate {
        case .named(let name): values.append(.name(name, "a server name", 1...253))
        case .file(let file, let key):
            values.append(.nonEmptyBytes(file.contents))
            if let key { values.append(.nonEmptyBytes(key.contents)) }
        case .flawed, .issuedByRun, nil: break
        }
        if case .file(let file) = trust { values.append(.nonEmptyBytes(file.contents)) }
        if let name { values.append(.name(name, "a server name", 1...253)) }
        if let tickets { values.append(.integer(tickets, "the number of tickets", 0...100)) }
        return values
    }
}

extension Expression {
    /// An expression for the contents of the file with this name. As with `file("…")`, the file must exist and must not
    /// be empty.
    fileprivate var contents: Expression {
        Expression(.call(Name(Function.file.rawValue, span), [Argument(value: self)]), span: span)
    }
}

/// The expected outcome of a handshake.
package enum TLSOutcome: Sendable {
    case succeeds
    /// The handshake fails: `tls failed`, `tls failed unknown-ca`. The alert, which can be received or sent, is given
    /// by its number.
    case fails(alert: Expression?)

    var values: [ValueCheck] {
        if case .fails(let alert?) = self { [.integer(alert, "an alert", 0...255)] } else { [] }
    }
}
