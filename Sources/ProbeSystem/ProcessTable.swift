import Glibc

/// Looks into `/proc` for what a case has started.
package enum ProcessTable {
    /// The processes of a group; those that have ended and wait for their parent are among them.
    package static func members(ofGroup group: Int32) -> [Int32] {
        all().filter { ListeningSockets.group(of: $0) == group }
    }

    /// Resident bytes, of `/proc/PID/statm`; 0 for a process that has ended.
    package static func residentMemory(of pid: Int32) -> Int {
        let fields = (SmallFile.read("/proc/\(pid)/statm") ?? []).split(separator: 32)
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Open descriptors, 0 for a process that has ended; nil where they may not be read.
    package static func descriptorCount(of pid: Int32) -> Int? {
        if let names = SmallFile.names(in: "/proc/\(pid)/fd") { return names.count }
        // One that has ended has no memory either.
        return errno == EACCES && residentMemory(of: pid) > 0 ? nil : 0
    }

    /// Why processes can't be looked at here; nil where they can.
    package static var problem: String? {
        guard let own = SmallFile.linkTarget("/proc/self") else { return "there is no /proc here" }
        return own == "\(getpid())" ? nil : "/proc shows the processes of another namespace"
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
        // Numbers of another namespace are somebody else's here.
        if problem != nil { return [] }
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
        if problem != nil { return [] }
        return (SmallFile.names(in: "/proc") ?? []).compactMap { Int32($0) }
    }
}
