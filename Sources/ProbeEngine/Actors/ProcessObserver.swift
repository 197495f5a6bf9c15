import CShims
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What the kernel's tables say of a program's process group. Where they can't be read that is an error: it says nothing about the program.
enum ProcessObserver {
    /// On its first port where it has been given one, else on any.
    static func isListening(_ process: ProcessActor, _ child: ChildProcess) throws(Finding) -> Bool {
        guard process.command.portCount > 0, let wanted = process.ports.first else {
            return try !listeningPorts(process, child).isEmpty
        }
        // The kernel's table first: reading every process's descriptors is slow.
        if let reason = ListeningSockets.problem { throw notSeen("whether \(process.name) listens", reason) }
        guard inNetwork(of: process, { ListeningSockets.isListening(port: wanted) }) else { return false }
        return try listeningPorts(process, child).contains(wanted)
    }

    /// - Parameter isLast: what has not been found by now counts as missing.
    static func listeningPorts(
        _ process: ProcessActor, _ child: ChildProcess, isLast: Bool = false
    ) throws(Finding) -> Set<UInt16> {
        let what = "whether \(process.name) listens"
        if let reason = ListeningSockets.problem ?? ProcessTable.problem { throw notSeen(what, reason) }
        let (ports, hidden) = inNetwork(of: process) { ListeningSockets.ports(ownedByGroup: child.pid) }
        if isLast, let pid = hidden.first { throw notSeen(what, hiddenReason(pid)) }
        return ports
    }

    /// Where a program on a link listens and the link can't reach it.
    static func unreachablePlaces(_ process: ProcessActor) -> [String] {
        guard process.network != nil, let child = process.child, child.exitedAt == nil else { return [] }
        return inNetwork(of: process) { ListeningSockets.loopbackOnly(ownedByGroup: child.pid) }
    }

    /// The kernel's tables are those of the thread's network.
    private static func inNetwork<T>(of process: ProcessActor, _ body: () -> T) -> T {
        guard let network = process.network else { return body() }
        return network.run(body)
    }

    private static func hiddenReason(_ pid: Int32) -> String {
        "the descriptors of its process \(pid) may not be read; it runs with other rights than the harness"
    }

    private static func notSeen(_ what: String, _ reason: String) -> Finding {
        Finding(.error, "\(what) can't be seen: \(reason)")
    }
}

/// Processor time of the present thread.
enum ThreadTime {
    static var used: Duration { .nanoseconds(probe_thread_cpu_ns()) }
}
