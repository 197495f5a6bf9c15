import CShims

/// What the process was started with.
///
/// Swift's `CommandLine` reads `/proc/self/cmdline`: in a sandbox without `/proc` there would be no arguments, and a gate would be green
/// with nothing run.
package enum ProgramArguments {
    /// The name of the program and its arguments; empty only when they can't be known.
    package static let words: [String] = {
        var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = Int(probe_arguments(&pointers))
        guard count > 0, let pointers else { return CommandLine.arguments }
        return (0..<count).compactMap { pointers[$0].map { String(cString: $0) } }
    }()

    /// The path by which the program was started.
    package static var executable: String? { probe_executable().map { String(cString: $0) } }
}
