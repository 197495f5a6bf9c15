import ArgumentParser
import ProbeBase

/// The option `--allow-target`, shared by `run` and `check`.
struct TargetOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-target"),
        help: ArgumentHelp(
            "A host, or host:port, that is not loopback and that scripts may connect to and listen on. May be given more than once.",
            valueName: "host[:port]"))
    var allowed: [String] = []

    func validate() throws { _ = try targets() }

    /// Returns the addresses that scripts may use.
    func targets() throws -> AllowedTargets {
        do throws(AllowedTargets.Malformed) {
            return try AllowedTargets(allowed)
        } catch {
            throw ValidationError(
                "--allow-target \(error.text): it must be a host or host:port, such as 192.0.2.1, db.test:5432 or [2001:db8::1]:80"
            )
        }
    }
}
