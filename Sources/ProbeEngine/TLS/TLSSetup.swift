import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// Prepares the settings with which TLS connections begin: certificates and trusted authorities.
struct TLSSetup {
    let context: CaseContext

    /// Prepares the TLS settings of the actors declared with `tls`, before the first step runs.
    func prepare() throws(Finding) {
        guard context.scenario.speaksTLS else { return }
        for declaration in context.scenario.actors {
            guard let options = declaration.tls else { continue }
            let name = declaration.name.value
            switch declaration.kind {
            case .server: context.tls.actors[name] = try make(options, of: name, isServer: true)
            case .client: context.tls.actors[name] = try make(options, of: name, isServer: false)
            case .subject, .process, .proxy, .crowd: break
            }
        }
    }

    /// Creates the TLS settings of an actor.
    ///
    /// - Parameter name: the actor's name. The actor's steps determine whether the harness must be able to forge
    ///   records.
    func make(_ options: TLSOptions, of name: String, isServer: Bool) throws(Finding) -> CaseTLS.Actor {
        if let obstacle = RunTLS.obstacle {
            throw Finding(
                .error, at: options.span, obstacle,
                hints: ["add `require tls` to skip the scenario if TLS is not available"])
        }
        var made = TLSContext.Options(isServer: isServer)
        made.version = options.version
        made.forges = context.tls.forges(name)
        if made.forges, options.version == .tls12 {
            throw Finding(
                .error, at: options.span, "records can be forged only on TLS 1.3 connections",
                hints: ["remove `version 1.2`"])
        }
        made.identity = try identity(options, isServer: isServer)
        if let requested = options.clientCertificate {
            made.clientCertificate = requested == .required ? .required : .asked
            made.trusted = [try authority(options.span).certificatePEM(options.span)]
        }
        switch options.trust {
        case .run: made.trusted = [try authority(options.span).certificatePEM(options.span)]
        case .file(let file):
            let authorities = try contents(of: file)
            try require("CERTIFICATE-----", in: authorities, of: file, "a certificate")
            made.trusted = [authorities]
        case nil: break
        }
        for name in options.protocols {
            let bytes = try context.bytes(of: name)
            guard (1...255).contains(bytes.count) else {
                throw Finding(
                    .error, at: name.span,
                    "a protocol name must be 1 to 255 bytes long (RFC 7301), not \(bytes.count)")
            }
            made.protocols.append(String(decoding: bytes, as: UTF8.self))
        }
        if let tickets = options.tickets { made.tickets = try context.integer(of: tickets) }
        let tls: TLSContext
        do throws(TLSError) {
            tls = try TLSContext(made)
        } catch {
            throw Finding(.error, at: place(of: options), problem(error, options))
        }
        let name = try options.name.map { (name) throws(Finding) in try self.name(of: name) }
        return CaseTLS.Actor(
            context: tls, name: name, verifies: options.trust != nil,
            certificate: isServer ? try ownCertificate(options) : .other)
    }

    private func ownCertificate(_ options: TLSOptions) throws(Finding) -> CaseTLS.OwnCertificate {
        switch options.certificate {
        case .flawed(.expired): .flawed("that has expired")
        case .flawed(.notYetValid): .flawed("that is not yet valid")
        case .flawed(.selfSigned): .flawed("that is self-signed")
        case .flawed(.unknownAuthority): .flawed("issued by an unknown authority")
        case .named(let name): .flawed("for \(Escaped.text(try context.bytes(of: name)))")
        case .issuedByRun, nil: .issuedByRun
        case .file: .other
        }
    }

    private func authority(_ span: SourceSpan) throws(Finding) -> CertificateAuthority {
        do throws(TLSError) { return try context.settings.tls.authority() } catch {
            throw Finding(.error, at: span, "the run's certificate authority can't be created: \(error.reason)")
        }
    }

    private func identity(_ options: TLSOptions, isServer: Bool) throws(Finding) -> TLSContext.Identity? {
        let flaw: CertificateAuthority.Flaw?
        switch options.certificate {
        case .file(let file, let key):
            let certificates = try contents(of: file)
            try require("CERTIFICATE-----", in: certificates, of: file, "a certificate")
            let key = key ?? file
            let keyBytes = try contents(of: key)
            try require("PRIVATE KEY-----", in: keyBytes, of: key, "a private key")
            if Self.holds("ENCRYPTED", keyBytes) {
                throw Finding(
                    .error, at: key.span, "the private key is encrypted, and there is no way to enter its password",
                    hints: ["decrypt it with `openssl pkey -in FILE -out plain.key`"])
            }
            return .files(certificates: certificates, key: keyBytes)
        case .flawed(.expired): flaw = .expired
        case .flawed(.notYetValid): flaw = .notYetValid
        case .flawed(.selfSigned): flaw = .selfSigned
        case .flawed(.unknownAuthority): flaw = .unknownAuthority
        case .named(let name): flaw = .otherName(try self.name(of: name))
        case .issuedByRun: flaw = nil
        case nil:
            if !isServer { return nil }
            flaw = nil
        }
        let authority = try authority(options.span)
        do throws(TLSError) {
            return .made(try authority.leaf(flaw))
        } catch {
            throw Finding(.error, at: options.span, "the certificate can't be created: \(error.reason)")
        }
    }

    /// Returns the value of an expression that must be a name, such as the name of a server.
    private func name(of expression: Expression) throws(Finding) -> String {
        let bytes = try context.bytes(of: expression)
        guard (1...253).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Finding(
                .error, at: expression.span, "\(Escaped.phrase(bytes)) is not a valid server name",
                hints: [
                    "use at most 253 letters, digits, hyphens and dots; write a name with other letters as \"xn--…\""
                ])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks the contents of a PEM file on the basis of the labels in the file.
    private func require(
        _ word: String, in bytes: [UInt8], of file: Expression, _ what: String
    ) throws(Finding) {
        if Self.holds(word, bytes) { return }
        throw Finding(
            .error, at: file.span,
            bytes.isEmpty ? "the file is empty" : "the file contains no \(what.dropFirst(2)) in PEM format",
            hints: [
                "convert other formats to PEM with `openssl x509 -inform DER` or `openssl pkey -inform DER`; a PEM "
                    + "file begins with -----BEGIN"
            ])
    }

    private static func holds(_ word: String, _ bytes: [UInt8]) -> Bool {
        var search = DelimiterSearch(Array(word.utf8))
        return search.end(in: bytes.span) != nil
    }

    private func contents(of file: Expression) throws(Finding) -> [UInt8] {
        let path = String(decoding: try context.bytes(of: file), as: UTF8.self)
        do throws(EvaluationError) {
            return try context.evaluator().contents(ofFile: path, referencedAt: file.span)
        } catch {
            throw Finding(error)
        }
    }

    /// Returns the location of the option whose value OpenSSL refused.
    private func place(of options: TLSOptions) -> SourceSpan {
        if case .file(let file, _) = options.certificate { return file.span }
        if case .file(let file) = options.trust { return file.span }
        return options.span
    }

    private func problem(_ error: TLSError, _ options: TLSOptions) -> String {
        if case .file = options.certificate { return "the certificate and its key can't be used: \(error.reason)" }
        if case .file = options.trust {
            return "the CA certificate file can't be used: \(error.reason)"
        }
        return "TLS can't be set up: \(error.reason)"
    }
}

extension CertificateAuthority {
    fileprivate func certificatePEM(_ span: SourceSpan) throws(Finding) -> [UInt8] {
        do throws(TLSError) { return try certificate.pem() } catch {
            throw Finding(.error, at: span, "the CA certificate can't be written: \(error.reason)")
        }
    }
}

// MARK: Crowds

extension TLSSetup {
    /// Returns the TLS settings of a crowd's members. Their certificates are written to files, because the members are
    /// in another process.
    func memberTLS(_ options: TLSOptions, isServer: Bool) throws(Finding) -> MemberTLS {
        if let obstacle = RunTLS.obstacle {
            throw Finding(
                .error, at: options.span, obstacle,
                hints: ["add `require tls` to skip the scenario if TLS is not available"])
        }
        var tls = MemberTLS()
        tls.serverName = try options.name.map { (name) throws(Finding) in try self.name(of: name) }
        for name in options.protocols {
            tls.alpn.append(String(decoding: try context.bytes(of: name), as: UTF8.self))
        }
        guard isServer, let identity = try identity(options, isServer: true) else { return tls }
        let certificates: [UInt8]
        let key: [UInt8]
        switch identity {
        case .files(let given, let givenKey): (certificates, key) = (given, givenKey)
        case .made(let leaf):
            do throws(TLSError) {
                (certificates, key) = (try leaf.pem(), try leaf.keyPEM())
            } catch {
                throw Finding(.error, at: options.span, "the certificate can't be written: \(error.reason)")
            }
        }
        let folder = try TemporaryFolder.make(at: options.span)
        context.crowdFolders.append(folder)
        do throws(SystemError) {
            try Folder(folder).replace("crowd.pem", with: certificates)
            try Folder(folder).replace("crowd.key", with: key, mode: 0o600)
        } catch {
            throw Finding(
                .error, at: options.span, "the crowd's certificate can't be written to \(folder): \(error.reason)")
        }
        (tls.certificate, tls.key) = ("\(folder)/crowd.pem", "\(folder)/crowd.key")
        return tls
    }
}

// MARK: Connections

extension TLSSetup {
    /// Begins TLS on a connection.
    ///
    /// - Parameters:
    ///   - tls: the settings of the actor or the step.
    ///   - early: the bytes of the handshake that the peer has already sent.
    ///   - earlier: a client's previous connection, whose session the client offers to resume.
    func begin(
        _ tls: CaseTLS.Actor, on connection: Connection, of name: String, isServer: Bool, early: [UInt8] = [],
        earlier: Connection? = nil, firstFlight: TLSLayer.FirstFlight? = nil, at span: SourceSpan? = nil
    ) throws(Finding) -> TLSLayer {
        let session: TLSSession
        do throws(TLSError) {
            let verified = tls.verifies ? tls.name ?? connection.peer?.endpoint.map { "\($0.address)" } : nil
            session = try TLSSession(
                tls.context, indicated: isServer ? nil : tls.name.flatMap(Self.indicated), verified: verified)
        } catch {
            throw Finding(.error, at: span, "TLS can't start on \(name)'s connection: \(error.reason)")
        }
        if let earlier = earlier?.tls, !isServer, !tls.verifies { session.resume(earlier.session) }
        // The case retains the layer, so the layer must not retain the case.
        let layer = TLSLayer(
            session, isServer: isServer, verifies: tls.verifies, certificate: tls.certificate, on: connection,
            firstFlight: firstFlight,
            noteFlight: { [unowned context] operation in
                if let span { context.injected.addSend(operation, at: span) }
            },
            raise: { [unowned context] finding in
                var finding = finding
                if finding.span == nil { finding.span = span }
                context.raise(finding)
            })
        connection.layer = layer
        context.tls.layers.append(layer)
        layer.start()
        if !early.isEmpty {
            early.withUnsafeBytes { bytes in
                layer.receive(bytes, at: .now) { connection.receiveBuffer.append($0, at: .now) }
            }
        }
        layer.noteEarlierEnd()
        return layer
    }

    /// Returns the name to send as SNI; `nil` for an IP address, which SNI must not contain (RFC 6066, section 3).
    private static func indicated(_ name: String) -> String? { IPAddress(name) == nil ? name : nil }
}
