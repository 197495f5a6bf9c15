import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS
import Synchronization

/// The TLS state of a run: the TLS library and the run's certificate authority. They are set up by the first case that
/// needs them.
package final class RunTLS: Sendable {
    private struct State {
        var authority: CertificateAuthority?
        var folder: String?
        var file: String?
    }

    private let made = Mutex(State())

    package init() {}

    /// The reason why TLS is not available; `nil` if it is available.
    package static var obstacle: String? {
        do throws(TLSLibrary.Unavailable) {
            try TLSLibrary.load()
            return nil
        } catch {
            return "OpenSSL 3 can't be loaded (\(error.reason)); install the package libssl3"
        }
    }

    func authority() throws(TLSError) -> CertificateAuthority {
        try made.withLock { (made) throws(TLSError) in
            if let authority = made.authority { return authority }
            if let obstacle = Self.obstacle { throw TLSError(obstacle) }
            let authority = try CertificateAuthority()
            made.authority = authority
            return authority
        }
    }

    /// Returns the path of the file that contains the certificate of the run's certificate authority. The file's folder
    /// is removed at the end of the run.
    func authorityFile(at span: SourceSpan?) throws(Finding) -> String {
        let pem: [UInt8]
        do throws(TLSError) {
            pem = try authority().certificate.pem()
        } catch {
            throw Finding(.error, at: span, "the run's certificate authority can't be created: \(error.reason)")
        }
        return try made.withLock { (made) throws(Finding) in
            if let file = made.file { return file }
            let folder: String
            if let earlier = made.folder { folder = earlier } else { folder = try TemporaryFolder.make(at: span) }
            made.folder = folder
            let file = "\(folder)/ca.pem"
            do throws(SystemError) {
                try Folder(folder).replace("ca.pem", with: pem)
            } catch {
                throw Finding(
                    .error, at: span, "the CA certificate can't be written to \(file): \(error.reason)")
            }
            made.file = file
            return file
        }
    }

    /// Removes the file that contains the certificate of the run's certificate authority.
    ///
    /// - Returns: the reason why the file could not be removed; `nil` on success.
    package func end() -> String? {
        let folder = made.withLock { made in
            defer { (made.folder, made.file) = (nil, nil) }
            return made.folder
        }
        guard let folder else { return nil }
        return ResourceTracker.remove(folder: folder).map { "the temporary folder \(folder) can't be removed: \($0)" }
    }
}
