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

    /// Children of this process that carry a mark in their environment: those that left their group when their parent ended
    /// (this process is their subreaper).
    package static func children(markedWith marker: String) -> [Int32] {
        let own = getpid()
        return all().filter { pid in
            guard ListeningSockets.parent(of: pid) == own else { return false }
            let environment = SmallFile.read("/proc/\(pid)/environ") ?? []
            return environment.split(separator: 0).contains { $0.elementsEqual(marker.utf8) }
        }
    }

    private static func all() -> [Int32] {
        (SmallFile.names(in: "/proc") ?? []).compactMap { Int32($0) }
    }
}
