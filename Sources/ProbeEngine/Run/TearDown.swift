import Glibc
import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeNames
import ProbeProxy
import ProbeSystem

/// Ends everything that a case started, without judging anything.
struct TearDown {
    let context: CaseContext

    /// Ends everything that the case started.
    ///
    /// - Returns: findings about what could not be ended or removed.
    func run() async -> [Finding] {
        ProxySetup(context: context).end()
        var findings = await CrowdLaunch(context: context).endAll()
        for (_, connection) in context.connections.entries {
            connection.onChange = {}
            connection.endLingering()
            if connection.close() > 0 { connection.abort() }
        }
        for case .server(let server) in context.actors.values {
            server.listener?.stopWatching(on: context.reactor)
            server.listener = nil
            server.waiting = []
        }
        let programs = ProgramEnd(context: context)
        let changes = context.changes
        for process in processes {
            for child in process.children {
                child.onChange = { changes.notifyAll() }
                child.closeInput()
                await programs.end(child)
                child.endDescendants()
            }
        }
        for process in processes { findings += await release(process, programs) }
        context.sharedPaths.release()
        context.secrets.add(contentsOf: context.tls.secrets)
        context.secrets.readFiles()
        if let folder = context.secrets.folder, let reason = ResourceTracker.remove(folder: folder) {
            findings.append(
                Finding(
                    .error, "the temporary folder \(folder) for the TLS secrets can't be removed: \(reason)",
                    hints: ["check what the folder contains, and remove the folder manually"]))
        }
        for folder in context.crowdFolders {
            guard let reason = ResourceTracker.remove(folder: folder) else { continue }
            findings.append(
                Finding(
                    .error, "the temporary folder \(folder) for a crowd's certificate can't be removed: \(reason)",
                    hints: ["check what the folder contains, and remove the folder manually"]))
        }
        if let folder = context.sockets.path, let reason = ResourceTracker.remove(folder: folder) {
            findings.append(
                Finding(
                    .error, "the temporary folder \(folder) for the Unix sockets can't be removed: \(reason)",
                    hints: ["check what the folder contains, and remove the folder manually"]))
        }
        return findings
    }

    /// The process actors, in the order of the script.
    private var processes: [ProcessActor] {
        context.actors.order.compactMap { name in
            if case .process(let process)? = context.actors[name] { process } else { nil }
        }
    }

    private func release(_ process: ProcessActor, _ programs: ProgramEnd) async -> [Finding] {
        var findings: [Finding] = []
        for child in process.children {
            if let finding = await programs.waitForDescendants(of: child, process.name) { findings.append(finding) }
            child.onChange = {}
        }
        // The last reference to the child process is dropped on the reactor's thread, so that the child's descriptors
        // are closed on this thread.
        if let child = process.child { process.lives[process.lives.count - 1].ended = child.exitedAt }
        (process.child, process.earlier) = (nil, [])
        if let folder = process.folder, let reason = ResourceTracker.remove(folder: folder) {
            findings.append(
                Finding(
                    .error, "\(process.name)'s temporary folder \(folder) can't be removed: \(reason)",
                    hints: ["check what the folder contains, and remove the folder manually"]))
        }
        return findings
    }
}

/// Ends a case's programs and all processes that the programs started.
struct ProgramEnd {
    let context: CaseContext

    /// Sends SIGTERM to a program's process group, then SIGKILL if the program doesn't exit, and SIGKILL to any
    /// remaining processes of the group.
    func end(_ child: ChildProcess) async {
        if child.exit == nil {
            child.killGroup(SIGTERM)
            await waitForExit(child, for: .milliseconds(500))
        }
        child.killGroup(SIGKILL)
        if child.exit == nil { await waitForExit(child, for: .seconds(5)) }
    }

    private func waitForExit(_ child: ChildProcess, for duration: Duration) async {
        let deadline = MonotonicTime.now + duration
        while child.exit == nil && MonotonicTime.now < deadline { await context.pause(until: deadline) }
    }

    /// Waits until none of the processes started by a program is left.
    func waitForDescendants(of child: ChildProcess, _ name: String) async -> Finding? {
        let deadline = MonotonicTime.now + GuardedProgram.timeout
        while child.left == nil && MonotonicTime.now < deadline { await context.pause(until: deadline) }
        if child.left == nil { child.giveUp() }
        if child.left == nil || child.isUnguarded { await endStrays() }
        guard let left = child.left, left > 0 else { return nil }
        return Finding(
            .error, "\(left) of the processes that \(name) started can't be terminated",
            hints: ["find the processes with `ps -ef`: they belong to another user, or are blocked in the kernel"])
    }

    /// Ends processes that have lost their guardian. They are found by the case's mark in their environment. The search
    /// is repeated until no process with the mark is found, because a process takes a few milliseconds to die, and may
    /// start further processes with the mark during that time.
    private func endStrays() async {
        for _ in 0..<1000 {
            if ResourceTracker.kill(markedWith: context.environmentMarker) == 0 { return }
            await context.pause(until: .now + .milliseconds(1))
        }
    }
}

extension CaseContext {
    /// An environment variable set in every process that the case starts. It identifies even processes that have left
    /// their process group.
    var environmentMarker: String { "TCPPROBE_CASE=\(getpid()).\(time.start.nanoseconds)" }
}
