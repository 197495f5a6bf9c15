import Glibc

/// A program and every process that it has started, whatever their groups and sessions: the descendants of the
/// program's guard, which adopts orphans. Their resource usage is read from `/proc` and added up.
///
/// A process that has ended contributes only the processor time that it used.
package struct ProcessTree: Sendable, Equatable {
    private let root: Int32

    /// Creates the process tree below a guard.
    ///
    /// - Parameter root: the guard's process, which is not counted.
    init(below root: Int32) { self.root = root }

    /// A process whose descriptors can't be read.
    package struct Hidden: Error {
        package var pid: Int32
    }

    /// Returns the processes, including zombies.
    package func members() -> Set<Int32> {
        stable { $0 }
    }

    package func descriptorCount() throws(Hidden) -> Int {
        var sum = 0
        for pid in members() {
            guard let count = ProcessTable.descriptorCount(of: pid) else { throw Hidden(pid: pid) }
            sum += count
        }
        return sum
    }

    package func threadCount() -> Int {
        members().reduce(0) { $0 + ProcessTable.threadCount(of: $1) }
    }

    /// Returns the resident memory in bytes.
    package func residentMemory() -> Int {
        members().reduce(0) { $0 + ProcessTable.residentMemory(of: $1) }
    }

    /// Returns the processor time used since the start, including the time of ended processes whose parents have waited
    /// for them.
    package func processorTime() -> Duration {
        stable { members in
            // Parents are read first, so that the time of a child that ends in the meantime is not counted twice.
            let ended = members.reduce(ProcessTable.timeOfEndedChildren(of: root)) {
                $0 + ProcessTable.timeOfEndedChildren(of: $1)
            }
            return members.reduce(ended) { $0 + ProcessTable.processorTime(of: $1) }
        }
    }

    /// Returns the number of descriptors of each kind, the largest number first: `socket`, `pipe`,
    /// `anon_inode:[eventpoll]`, `file`.
    package func kindsOfDescriptors() -> [(kind: String, count: Int)] {
        var counts: [String: Int] = [:]
        for pid in members() {
            for name in SmallFile.names(in: "/proc/\(pid)/fd") ?? [] {
                guard let target = SmallFile.linkTarget("/proc/\(pid)/fd/\(name)") else { continue }
                counts[Self.kind(of: target), default: 0] += 1
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    /// Returns the kind of a descriptor from its link target: `socket:[4711]` is a `socket`, and a path is a `file`.
    private static func kind(of target: String) -> String {
        if target.hasPrefix("/") { return "file" }
        if target.hasPrefix("anon_inode:") { return String(target.dropFirst(11).filter { $0 != "[" && $0 != "]" }) }
        return String(target.prefix { $0 != ":" })
    }

    // MARK: Members

    /// Returns a measurement of the tree's processes. The measurement is repeated, at most a few times, until no
    /// process is added or removed during the measurement. If a process ends during the measurement, its children
    /// become children of the guard, whose children may already have been read.
    private func stable<Value>(_ measure: (Set<Int32>) -> Value) -> Value {
        var members = read()
        for _ in 0..<8 {
            let value = measure(members)
            let after = read()
            if after == members { return value }
            members = after
        }
        return measure(members)
    }

    private func read() -> Set<Int32> {
        var found: Set<Int32> = []
        var unread = [root]
        while let pid = unread.popLast() {
            for child in ProcessTable.children(of: pid) where found.insert(child).inserted { unread.append(child) }
        }
        return found
    }
}

extension ProcessTable {
    /// Returns the number of threads; 0 for a process that has ended.
    fileprivate static func threadCount(of pid: Int32) -> Int {
        // A zombie has one thread, which no longer runs.
        guard let fields = statusFields(of: pid), fields.count > 17, let count = Int(fields[17]) else { return 0 }
        return fields[0] == "Z" && count == 1 ? 0 : count
    }

    /// Returns the processor time of all threads of the process, including those that have ended.
    fileprivate static func processorTime(of pid: Int32) -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// Returns the processor time of the children for which the process has waited, and of their descendants. The
    /// kernel counts this time in ticks, usually of 10 ms.
    fileprivate static func timeOfEndedChildren(of pid: Int32) -> Duration {
        guard let fields = statusFields(of: pid), fields.count > 14, let user = Int64(fields[13]),
            let system = Int64(fields[14])
        else { return .zero }
        return .nanoseconds((user + system) * (1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))))
    }
}
