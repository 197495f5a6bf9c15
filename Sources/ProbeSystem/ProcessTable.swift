import Glibc

/// Reads information about the processes of a case from `/proc`.
package enum ProcessTable {
    /// Returns the resident memory in bytes, from `/proc/PID/statm`; 0 for a process that has ended.
    package static func residentMemory(of pid: Int32) -> Int {
        let fields = (SmallFile.read("/proc/\(pid)/statm") ?? []).split(separator: 32)
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Returns the number of open descriptors; 0 for a process that has ended, `nil` if they can't be read.
    package static func descriptorCount(of pid: Int32) -> Int? {
        if let names = SmallFile.names(in: "/proc/\(pid)/fd") { return names.count }
        // A process that has ended has no resident memory.
        return errno == EACCES && residentMemory(of: pid) > 0 ? nil : 0
    }

    /// Returns the fields of `/proc/PID/stat` that follow the name (state, parent, group, …); `nil` if the process has
    /// ended.
    static func statusFields(of pid: Int32) -> [String]? {
        // The process's name is in parentheses, and may contain any character.
        guard let status = SmallFile.read("/proc/\(pid)/stat"), let end = status.lastIndex(of: 41) else { return nil }
        return status[(end + 1)...].split(separator: 32).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The reason why processes can't be examined on this system; `nil` if they can.
    package static var problem: String? {
        guard let own = SmallFile.linkTarget("/proc/self") else { return "this system has no /proc" }
        return own == "\(getpid())" ? nil : "/proc shows the processes of another namespace"
    }

    /// Returns the processes whose environment contains a marker. A zombie has no environment.
    static func processes(markedWith marker: String) -> [Int32] {
        let own = getpid()
        return all().filter { pid in
            guard pid != own, let environment = SmallFile.read("/proc/\(pid)/environ") else { return false }
            return environment.split(separator: 0).contains { $0.elementsEqual(marker.utf8) }
        }
    }

    /// Returns all children of this process, including adopted ones and zombies.
    package static func children() -> [Int32] {
        // If `/proc` belongs to another process id namespace, its ids refer to other processes.
        if problem != nil { return [] }
        let own = getpid()
        return listedChildren(of: "self") ?? all().filter { ListeningSockets.parent(of: $0) == own }
    }

    /// Returns the children of a process, or an empty list if the process has ended.
    static func children(of pid: Int32) -> [Int32] {
        if hasLists { return listedChildren(of: "\(pid)") ?? [] }
        return all().filter { ListeningSockets.parent(of: $0) == pid }
    }

    /// Whether the kernel lists the children of each thread (CONFIG_PROC_CHILDREN). Otherwise all processes must be
    /// searched.
    private static let hasLists = SmallFile.exists("/proc/thread-self/children")

    /// Returns the children that the kernel lists for the process's threads; `nil` if the kernel has no such lists.
    private static func listedChildren(of process: String) -> [Int32]? {
        var found: [Int32] = []
        var isKnown = false
        for task in SmallFile.names(in: "/proc/\(process)/task") ?? [] {
            guard let line = SmallFile.read("/proc/\(process)/task/\(task)/children") else { continue }
            isKnown = true
            found += line.split(separator: 32).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
        }
        return isKnown ? found : nil
    }

    private static func all() -> [Int32] {
        if problem != nil { return [] }
        return (SmallFile.names(in: "/proc") ?? []).compactMap { Int32($0) }
    }
}
