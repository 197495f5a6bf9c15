import ArgumentParser
import ProbeBase

/// The option `--allow-target`, which several subcommands share.
struct TargetOptions: ParsableArguments {
    @Option(
        name: .customLong("allow-target"),
        help: ArgumentHelp(
            "Allow connecting to and listening on a host, or host:port, that is not loopback. May be repeated.",
            valueName: "host[:port]"))
    var allowed: [String] = []

    func validate() throws { _ = try targets() }

    /// Returns the addresses that scripts may use.
    func targets() throws -> AllowedTargets {
        do throws(AllowedTargets.Malformed) {
            return try AllowedTargets(allowed)
        } catch {
            throw ValidationError(
                "--allow-target \(error.text): expected a host or host:port, such as 192.0.2.1, db.test:5432 or [2001:db8::1]:80"
            )
        }
    }
}
