import COpenSSL

/// The OpenSSL library, which is loaded when it is first used.
package enum TLSLibrary {
    /// The reason why the library can't be used.
    package struct Unavailable: Error, Sendable, Equatable {
        /// The message from the dynamic loader.
        package let reason: String
    }

    private static let loaded: Result<String, Unavailable> =
        if let reason = probe_tls_load() {
            .failure(Unavailable(reason: String(cString: reason)))
        } else {
            .success(String(cString: probe_tls_library()))
        }

    /// Loads the library and returns its version, such as `OpenSSL 3.0.19 27 Jan 2026`.
    @discardableResult
    package static func load() throws(Unavailable) -> String { try loaded.get() }

    /// Loads the library. Must be called before any OpenSSL function, because the functions do not exist until the
    /// library is loaded.
    static func require() throws(TLSError) {
        do throws(Unavailable) { try load() } catch { throw TLSError("OpenSSL 3 can't be loaded: \(error.reason)") }
    }
}

/// A failure with OpenSSL's own message, such as `certificate verify failed`.
package struct TLSError: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// The number of the peer's alert that caused the failure; `nil` if the failure has another cause.
    package let alert: UInt8?

    package init(_ reason: String, alert: UInt8? = nil) { (self.reason, self.alert) = (reason, alert) }

    /// Removes and returns the calling thread's last failure.
    static func last() -> TLSError {
        let alert = UInt8(exactly: probe_tls_alert_of_error())
        return TLSError(
            probe_tls_take_error().map { String(cString: $0) } ?? "OpenSSL gave no reason", alert: alert)
    }

    package var description: String { reason }
}
