import Glibc
import ProbeBase
import ProbeNetwork
import ProbeSystem

/// What the machine allows a crowd: how many processes share its members, or which limit is in the way. Pure, but for ``ofThisMachine()``.
struct CrowdLimits {
    /// Why a crowd can't be.
    struct Obstacle: Error, Equatable {
        /// Which limit, its value, and what is needed.
        var text: String
        /// How the limit is raised.
        var advice: String
    }

    /// What a crowd takes.
    struct Need {
        var members: Int
        /// Both ends of a connection are on this machine.
        var isLocal = true
        /// Its members have one address: on a link.
        var hasOneAddress = false
    }

    /// Open files of one process (RLIMIT_NOFILE, the hard limit).
    var descriptors: Int
    /// Open files of the system (fs.file-max), and how many there are.
    var files: (limit: Int, used: Int)
    /// Processes of this user (RLIMIT_NPROC); nil: any number.
    var processes: Int?

    /// Of a worker's descriptors, for what is no member.
    private static let reserve = 512
    /// A worker is two processes: itself and its guard.
    private static let processesOfWorker = 2
    private static let mostWorkers = 64
    /// Of all crowds of a case together.
    static let mostWorkersOfCase = 128

    /// How many members one worker may have.
    var membersOfWorker: Int { max(1, descriptors - min(Self.reserve, descriptors / 4)) }

    /// - Returns: how many processes share the members.
    func workers(for need: Need) throws(Obstacle) -> Int {
        let ports = SourceAddresses.ports
        if need.hasOneAddress, need.members > ports.count {
            throw Obstacle(
                text:
                    "it has one address there, and \(ports.count) ports (\(ports.lowerBound) to \(ports.upperBound - 1))",
                advice: "make it smaller: on IPv4 and without a link members have many addresses")
        }
        let workers = (need.members + membersOfWorker - 1) / membersOfWorker
        if workers > Self.mostWorkers {
            // Of a high limit the reserve is taken as a whole.
            let each = (need.members + Self.mostWorkers - 1) / Self.mostWorkers
            let needed = each + max(Self.reserve, each / 3)
            throw Obstacle(
                text: "a process may have \(descriptors) open files (RLIMIT_NOFILE), and at most "
                    + "\(Self.mostWorkers) processes share a crowd: it needs \(needed)",
                advice: "`ulimit -Hn \(needed)` before the run raises the limit; it takes root")
        }
        let ends = need.members * (need.isLocal ? 2 : 1)
        let free = files.limit - files.used
        if ends > free {
            throw Obstacle(
                text: "the system may have \(files.limit) open files (fs.file-max), of which \(max(0, free)) are free: "
                    + "it needs \(ends)",
                advice: "`sysctl fs.file-max=\(files.used + ends + 10_000)` raises the limit, as root")
        }
        let needed = workers * Self.processesOfWorker
        if let processes, processes < needed {
            throw Obstacle(
                text: "this user may have \(processes) processes (RLIMIT_NPROC): it needs \(needed) of them",
                advice: "`ulimit -u \(needed + 100)` raises the limit")
        }
        return workers
    }
}

extension CrowdLimits {
    static func ofThisMachine() -> CrowdLimits {
        let files = SmallFile.read("/proc/sys/fs/file-nr").map { String(decoding: $0, as: UTF8.self) } ?? ""
        let numbers = files.split(whereSeparator: \.isWhitespace).map { Int($0) ?? Int.max }
        return CrowdLimits(
            descriptors: min(limit(RLIMIT_NOFILE) ?? largestProcess, largestProcess),
            files: numbers.count == 3 ? (numbers[2], numbers[0]) : (.max, 0),
            // Nothing limits root's processes.
            processes: geteuid() == 0 ? nil : limit(__RLIMIT_NPROC))
    }

    /// fs.nr_open, unless it was changed.
    private static let largestProcess = 1 << 20

    /// The hard limit; nil: there is none.
    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_max != rlim_t.max else {
            return nil
        }
        return Int(clamping: limit.rlim_max)
    }
}
