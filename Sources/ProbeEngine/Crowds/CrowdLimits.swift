import Glibc
import ProbeBase
import ProbeCrowd
import ProbeSystem

/// The limits that the machine imposes on a crowd. They determine how many processes must share the crowd's members, or
/// which limit prevents the machine from running the crowd. Only ``forThisMachine()`` queries the machine.
struct CrowdLimits {
    /// The reason why the machine cannot run a crowd.
    struct Obstacle: Error, Equatable {
        /// Text that names the limit, its value, and the required value.
        var text: String
        /// Advice on how to raise the limit.
        var advice: String
    }

    /// The resources that a crowd needs.
    struct Need {
        var members: Int
        /// Whether both ends of each connection are on this machine.
        var isLocal = true
        /// Whether all members have the same address, as on a link.
        var hasOneAddress = false
    }

    /// The maximum number of open files per process (RLIMIT_NOFILE, the hard limit).
    var descriptors: Int
    /// The system-wide maximum number of open files (fs.file-max), and the number in use.
    var files: (limit: Int, used: Int)
    /// The maximum number of processes for this user (RLIMIT_NPROC); `nil` if it is unlimited.
    var processes: Int?

    /// The number of a worker's descriptors that are reserved for purposes other than members.
    private static let reserve = 512
    /// Each worker needs two processes: the worker itself and its guard.
    private static let processesOfWorker = 2
    private static let maxWorkers = 64
    /// The maximum number of workers for all crowds in a case.
    static let maxWorkersPerCase = 128

    /// The maximum number of members that one worker can have.
    var membersOfWorker: Int { max(1, descriptors - min(Self.reserve, descriptors / 4)) }

    /// Returns the number of processes that share the members.
    ///
    /// - Throws: an error about the limit that prevents the machine from running the crowd.
    func workers(for need: Need) throws(Obstacle) -> Int {
        let ports = SourceAddresses.ports
        if need.hasOneAddress, need.members > ports.count {
            throw Obstacle(
                text:
                    "its members share a single address with \(ports.count) ports (\(ports.lowerBound) to "
                    + "\(ports.upperBound - 1))",
                advice: "reduce the number of members; on IPv4 without a link, members can use many source addresses")
        }
        let workers = (need.members + membersOfWorker - 1) / membersOfWorker
        if workers > Self.maxWorkers {
            // With a limit of `needed` descriptors, each process has enough descriptors for its members after the full
            // reserve has been deducted.
            let each = (need.members + Self.maxWorkers - 1) / Self.maxWorkers
            let needed = each + max(Self.reserve, each / 3)
            throw Obstacle(
                text: "the limit on open files per process (RLIMIT_NOFILE) is \(descriptors), and at most "
                    + "\(Self.maxWorkers) processes can share a crowd, so each process needs \(needed)",
                advice: "raise the limit with `ulimit -Hn \(needed)` before the run, as root")
        }
        let ends = need.members * (need.isLocal ? 2 : 1)
        let free = files.limit - files.used
        if ends > free {
            throw Obstacle(
                text: "the system's limit on open files (fs.file-max) is \(files.limit), and \(max(0, free)) more "
                    + "can be opened, but the crowd needs \(ends)",
                advice: "raise the limit with `sysctl fs.file-max=\(files.used + ends + 10_000)`, as root")
        }
        let needed = workers * Self.processesOfWorker
        if let processes, processes < needed {
            throw Obstacle(
                text: "this user's limit on processes (RLIMIT_NPROC) is \(processes), but the crowd needs \(needed)",
                advice: "raise the limit with `ulimit -u \(needed + 100)`")
        }
        return workers
    }
}

extension CrowdLimits {
    static func forThisMachine() -> CrowdLimits {
        let files = SmallFile.read("/proc/sys/fs/file-nr").map { String(decoding: $0, as: UTF8.self) } ?? ""
        let numbers = files.split(whereSeparator: \.isWhitespace).map { Int($0) ?? Int.max }
        return CrowdLimits(
            descriptors: min(limit(RLIMIT_NOFILE) ?? largestProcess, largestProcess),
            files: numbers.count == 3 ? (numbers[2], numbers[0]) : (.max, 0),
            // The number of root's processes is not limited.
            processes: geteuid() == 0 ? nil : limit(__RLIMIT_NPROC))
    }

    /// The default value of fs.nr_open.
    private static let largestProcess = 1 << 20

    /// Returns the hard limit of a resource; `nil` if the resource is unlimited.
    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_max != rlim_t.max else {
            return nil
        }
        return Int(clamping: limit.rlim_max)
    }
}
