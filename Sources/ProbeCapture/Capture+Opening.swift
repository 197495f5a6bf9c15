extension Capture {
    /// Opens a capture, and waits for a first fence: from then on nothing is missed.
    ///
    /// - Parameters:
    ///   - bufferSize: bytes of the kernel's ring.
    ///   - done: called once. After a failed opening that is before this returns, else on the capture's thread, which it must not
    ///     block.
    package static func openCaughtUp(
        ports: CapturePorts, bufferSize: Int,
        done: @escaping @Sendable (Result<Capture, CaptureOpeningError>) -> Void
    ) {
        let capture: Capture
        do throws(CaptureError) {
            capture = try Capture.open(ports: ports, bufferSize: bufferSize)
        } catch {
            return done(.failure(.failed(error)))
        }
        capture.fence(timeout: .seconds(10)) { outcome in
            switch outcome {
            case .caughtUp: done(.success(capture))
            case .timedOut: done(.failure(.deliversNothing))
            case .failed(let error): done(.failure(.failed(error)))
            }
        }
    }
}

/// Why there is no capture.
package enum CaptureOpeningError: Error, Sendable {
    case failed(CaptureError)
    /// It was opened, and its first fence was not reached.
    case deliversNothing
}
