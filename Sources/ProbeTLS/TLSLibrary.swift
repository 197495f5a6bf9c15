import COpenSSL

/// OpenSSL, loaded by the first that asks.
package enum TLSLibrary {
    /// Why it can't be used.
    package struct Unavailable: Error, Sendable, Equatable {
        /// What the loader said.
        package let reason: String
    }

    private static let loaded: Result<String, Unavailable> =
        if let reason = probe_tls_load() {
            .failure(Unavailable(reason: String(cString: reason)))
        } else {
            .success(String(cString: probe_tls_library()))
        }

    /// Loads it, and returns its version, as `OpenSSL 3.0.19 27 Jan 2026`.
    @discardableResult
    package static func load() throws(Unavailable) -> String { try loaded.get() }

    /// Before the first call of OpenSSL, wherever that is: without the library there is no function to be called.
    static func require() throws(TLSError) {
        do throws(Unavailable) { try load() } catch { throw TLSError("OpenSSL 3 can't be loaded: \(error.reason)") }
    }
}

/// What OpenSSL says of a failure, in its words: `certificate verify failed`.
package struct TLSError: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// The number of the peer's alert that it came from; nil: it came from something else.
    package let alert: UInt8?

    package init(_ reason: String, alert: UInt8? = nil) { (self.reason, self.alert) = (reason, alert) }

    /// The calling thread's last failure.
    static func last() -> TLSError {
        let alert = UInt8(exactly: probe_tls_alert_of_error())
        return TLSError(
            probe_tls_take_error().map { String(cString: $0) } ?? "the library says no reason", alert: alert)
    }

    package var description: String { reason }
}
