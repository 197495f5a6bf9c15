import Glibc

/// A system call that failed: which one, and its errno.
package struct SystemError: Error, Sendable, Hashable {
    package let call: String
    package let code: Int32
    /// Says more than the kernel's words for the code.
    private let explanation: String?

    package init(_ call: String, code: Int32 = errno, _ explanation: String? = nil) {
        self.call = call
        self.code = code
        self.explanation = explanation
        Surroundings.note(call, code)
    }

    /// Without being kept in mind as a shortage.
    init(_ call: String, uncounted code: Int32) {
        self.call = call
        self.code = code
        explanation = nil
    }

    /// What is known better here, or the kernel's words: `Address already in use`.
    package var reason: String {
        explanation ?? String(cString: strerror(code))
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String { "\(call): \(reason)" }
}
