import CShims

/// The arguments of this process.
///
/// Swift's `CommandLine` reads `/proc/self/cmdline`. In a sandbox without `/proc`, `CommandLine` would be empty, and a
/// CI job would succeed without running any test.
package enum ProgramArguments {
    /// The name of the program and its arguments; empty only if they can't be determined.
    package static let words: [String] = {
        var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = Int(probe_arguments(&pointers))
        guard count > 0, let pointers else { return CommandLine.arguments }
        return (0..<count).compactMap { pointers[$0].map { String(cString: $0) } }
    }()

    /// The path by which the program was started.
    package static var executable: String? { probe_executable().map { String(cString: $0) } }
}
