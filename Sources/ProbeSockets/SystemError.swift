import Glibc

/// A system call that failed: which one, and its errno.
package struct SystemError: Error, Sendable, Hashable {
    package let call: String
    package let code: Int32

    package init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The kernel's words: `Address already in use`.
    package var reason: String {
        String(cString: strerror(code))
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String { "\(call): \(reason)" }
}
