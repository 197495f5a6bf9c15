import Glibc

/// A failed system call: the name of the call and its errno.
package struct SystemError: Error, Sendable, Hashable {
    package let call: String
    package let code: Int32
    /// A message that is more specific than the kernel's message for the code.
    private let explanation: String?

    package init(_ call: String, code: Int32 = errno, _ explanation: String? = nil) {
        self.call = call
        self.code = code
        self.explanation = explanation
        Surroundings.note(call, code)
    }

    /// Creates an error without recording that a resource was exhausted.
    init(_ call: String, uncounted code: Int32) {
        self.call = call
        self.code = code
        explanation = nil
    }

    /// Advice on a machine error; empty for other errors.
    package var advice: [String] { Surroundings.advice(on: code).map { [$0] } ?? [] }

    /// The remaining amounts of the exhausted resource; empty for other errors.
    package var resourcesLeft: [String] {
        MachineError.shortages.contains { $0.code == code } ? ResourcesLeft.here() : []
    }

    /// The more specific message if there is one; otherwise, the kernel's message, such as `Address already in use`.
    package var reason: String {
        explanation ?? String(cString: strerror(code))
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String { "\(call): \(reason)" }
}
