import CShims
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What the kernel's tables show about a program's process group. If the tables can't be read, the case ends in an
/// error rather than a failure, because the program did not cause the problem.
enum ProcessObserver {
    /// Returns whether the program listens on its first assigned port or, if it has none, on any port.
    static func isListening(_ process: ProcessActor, _ child: ChildProcess) throws(Finding) -> Bool {
        guard process.command.portCount > 0, let wanted = process.ports.first else {
            return try !listeningPorts(process, child).isEmpty
        }
        // Check the kernel's table first, because reading the descriptors of every process is slow.
        if let reason = ListeningSockets.problem { throw notSeen("whether \(process.name) listens", reason) }
        guard inNetwork(of: process, { ListeningSockets.isListening(port: wanted) }) else { return false }
        return try listeningPorts(process, child).contains(wanted)
    }

    /// Returns the ports that the program listens on.
    ///
    /// - Parameter isLast: whether this is the last check. Only the last check throws a finding if the descriptors of a
    ///   process can't be read.
    static func listeningPorts(
        _ process: ProcessActor, _ child: ChildProcess, isLast: Bool = false
    ) throws(Finding) -> Set<UInt16> {
        let what = "whether \(process.name) listens"
        if let reason = ListeningSockets.problem ?? ProcessTable.problem { throw notSeen(what, reason) }
        let (ports, hidden) = inNetwork(of: process) { ListeningSockets.ports(ownedByGroup: child.pid) }
        if isLast, let pid = hidden.first { throw notSeen(what, hiddenReason(pid)) }
        return ports
    }

    /// Returns the addresses on which a program attached to a link listens but that can't be reached over the link.
    static func unreachablePlaces(_ process: ProcessActor) -> [String] {
        guard process.network != nil, let child = process.child, child.exitedAt == nil else { return [] }
        return inNetwork(of: process) { ListeningSockets.loopbackOnly(ownedByGroup: child.pid) }
    }

    /// Runs `body` in the program's network namespace, because the kernel lists only the sockets in the calling
    /// thread's network namespace.
    private static func inNetwork<T>(of process: ProcessActor, _ body: () -> T) -> T {
        guard let network = process.network else { return body() }
        return network.run(body)
    }

    private static func hiddenReason(_ pid: Int32) -> String {
        "the harness is not permitted to read the descriptors of process \(pid), which runs with different privileges"
    }

    private static func notSeen(_ what: String, _ reason: String) -> Finding {
        Finding(.error, "it is unknown \(what): \(reason)")
    }
}

/// The processor time of the current thread.
enum ThreadTime {
    static var used: Duration { .nanoseconds(probe_thread_cpu_ns()) }
}
