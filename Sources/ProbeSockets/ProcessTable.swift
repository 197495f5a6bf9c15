import Glibc

/// Looks into `/proc` for what a case has started.
package enum ProcessTable {
    /// The processes of a group.
    package static func members(ofGroup group: Int32) -> [Int32] {
        all().filter { ListeningSockets.group(of: $0) == group }
    }

    /// Resident bytes, of `/proc/PID/statm`; 0 for a process that has ended.
    package static func residentMemory(of pid: Int32) -> Int {
        let fields = (SmallFile.read("/proc/\(pid)/statm") ?? []).split(separator: 32)
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    package static func descriptorCount(of pid: Int32) -> Int {
        SmallFile.names(in: "/proc/\(pid)/fd")?.count ?? 0
    }

    /// Processes that carry a mark in their environment; one that has ended has no environment any more.
    static func processes(markedWith marker: String) -> [Int32] {
        let own = getpid()
        return all().filter { pid in
            guard pid != own, let environment = SmallFile.read("/proc/\(pid)/environ") else { return false }
            return environment.split(separator: 0).contains { $0.elementsEqual(marker.utf8) }
        }
    }

    /// All children of this process, those that it adopted among them, ended or not.
    package static func children() -> [Int32] {
        let own = getpid()
        // A line for each thread; kernels without it (CONFIG_PROC_CHILDREN) have the long way, over all processes.
        var found: [Int32] = []
        var isKnown = false
        for task in SmallFile.names(in: "/proc/self/task") ?? [] {
            guard let line = SmallFile.read("/proc/self/task/\(task)/children") else { continue }
            isKnown = true
            found += line.split(separator: 32).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
        }
        if isKnown { return found }
        return all().filter { ListeningSockets.parent(of: $0) == own }
    }

    private static func all() -> [Int32] {
        (SmallFile.names(in: "/proc") ?? []).compactMap { Int32($0) }
    }
}
