import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// Checks whether the machine and the run meet the requirements in a case's header.
struct CaseRequirements {
    let context: CaseContext

    /// Returns the finding that prevents the case from running on this machine, such as an unmet `require`; `nil` if
    /// all requirements are met.
    func unmet() -> Finding? {
        let settings = context.settings
        for requirement in context.scenario.requirements {
            let reason: String? =
                switch requirement.kind {
                case .capture:
                    settings.capture == nil ? "require capture: \(context.captureProblem)" : nil
                case .ipv6: hasIPv6 ? nil : "require ipv6: this machine can't bind [::1]"
                case .localhostIPv6:
                    localhostHasBoth
                        ? nil : "require localhost ipv6: the name localhost does not resolve to both 127.0.0.1 and ::1"
                case .root: geteuid() == 0 ? nil : "require root: the run's user is not root"
                case .command(let name):
                    ExecutableSearch.find(name) == nil ? "require command \(name): not found in PATH" : nil
                case .tls: RunTLS.obstacle.map { "require tls: \($0)" }
                case .link: linkObstacle.map { "require link: \($0)" }
                case .subject: nil
                }
            if let reason { return Finding(.skipped, at: requirement.span, reason) }
        }
        if let link = context.scenario.links.first, let linkObstacle {
            return Finding(.skipped, at: link.span, "links are not available: \(linkObstacle)")
        }
        if let name = context.scenario.firstName, let obstacle = NameLookup.obstacle {
            return Finding(.skipped, at: name, "host names can't be resolved on this machine: \(obstacle)")
        }
        if let step = context.scenario.firstVanish, let obstacle = TCPRepair.obstacle {
            return Finding(
                .skipped, at: step,
                "a connection can't vanish on this machine: \(obstacle.reason); CAP_NET_ADMIN is required: run as "
                    + "root, or with `unshare -Urn`"
            )
        }
        return context.job.obstacle.map { Finding(.unsupported, at: $0.span, $0.text) }
    }

    private var linkObstacle: String? { NetworkNamespace.obstacle }

    private var localhostHasBoth: Bool {
        // If `localhost` can't be looked up, it counts as having neither 127.0.0.1 nor ::1.
        guard hasIPv6, let addresses = try? HostAddresses.look("localhost") else { return false }
        return ["127.0.0.1", "::1"].allSatisfy(addresses.contains)
    }

    private var hasIPv6: Bool {
        guard let address = SocketAddress(numeric: "::1", port: 0) else { return false }
        do {
            _ = try Listener(address: address, backlog: 1, options: [])
            return true
        } catch {
            return false
        }
    }
}
