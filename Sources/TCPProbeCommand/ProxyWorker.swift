import CShims
import Glibc
import ProbeSystem

/// An additional process of `tcpprobe proxy`. The process handles connections for which the other processes have no
/// descriptors left.
///
/// An additional process has the same arguments, and accepts connections from the same listening socket, which it
/// inherits. The additional process ends when the process that started it exits or closes its end of a socket pair.
final class ProxyWorker {
    /// The totals over all connections of a process.
    struct Totals {
        var connections = 0
        var toServer = 0
        var toClient = 0
        var failures = 0

        static func += (left: inout Totals, right: Totals) {
            left.connections += right.connections
            left.toServer += right.toServer
            left.toClient += right.toClient
            left.failures += right.failures
        }

        /// Sends the totals to the process that started this process.
        func send() {
            let words = [connections, toServer, toClient, failures].map(String.init).joined(separator: " ")
            _ = SmallFile.writeAll(Array(words.utf8), to: ProxyWorker.control)
        }
    }

    /// The numbers of the descriptors that an additional process inherits.
    static let listener: Int32 = 3
    static let control: Int32 = 4
    /// The size of the range of connection numbers that is reserved for each process.
    static let numbers = 1_000_000
    /// The number of descriptors reserved for purposes other than connections.
    private static let reserve = 24

    /// The time allowed for an additional process to end, in milliseconds.
    private static let timeoutMilliseconds: Int32 = 5_000

    private let pair: OwnedDescriptor
    /// A descriptor that becomes readable when the additional process has ended.
    var descriptor: Int32 { pair.raw }
    private let process: pid_t

    /// The maximum number of connections of this process, each of which needs two descriptors; `nil` if the number of
    /// descriptors is unlimited.
    static var capacity: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
            return nil
        }
        let used = SmallFile.names(in: "/proc/self/fd")?.count ?? 16
        return max(1, (Int(clamping: limit.rlim_cur) - used - reserve) / 2)
    }

    /// Starts an additional process.
    ///
    /// - Parameter number: the number of the process within the proxy.
    init(number: Int, listener: consuming OwnedDescriptor) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        if socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) < 0 {
            throw SystemError("socketpair")
        }
        pair = OwnedDescriptor(ends[0])
        let near = OwnedDescriptor(ends[1])
        let far = fcntl(near.raw, F_DUPFD_CLOEXEC, 10)
        if far < 0 { throw SystemError("fcntl") }
        let given = OwnedDescriptor(far)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, listener.raw, Self.listener)
        posix_spawn_file_actions_adddup2(&actions, given.raw, Self.control)
        var words = ProgramArguments.words
        if let place = words.firstIndex(of: "--worker") { words.removeSubrange(place...(place + 1)) }
        // The option must directly follow the subcommand, because after `--` it would not be parsed as an option.
        words.insert(contentsOf: ["--worker", "\(number)"], at: min(2, words.count))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, &arguments, environ)
        if code != 0 { throw SystemError("posix_spawn", code: code) }
        process = pid
    }

    /// Ends the additional process.
    ///
    /// - Returns: the totals of the process's connections; `nil` if the process has not sent them.
    func end() -> Totals? {
        shutdown(pair.raw, Int32(SHUT_WR))
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            var poller = pollfd(fd: pair.raw, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, Self.timeoutMilliseconds) == 0 {
                kill(process, SIGKILL)
                break
            }
            let count = read(pair.raw, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            text += buffer[..<count]
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let numbers = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 4 else { return nil }
        return Totals(connections: numbers[0], toServer: numbers[1], toClient: numbers[2], failures: numbers[3])
    }
}
