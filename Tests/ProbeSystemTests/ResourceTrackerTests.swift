import Glibc
import ProbeSystem
import Testing

struct ResourceTrackerTests {
    /// A process that uses the package as a library has its own child processes, and waits for them.
    @Test func foreignChildKeepsItsStatus() throws {
        let words = ["sh", "-c", "exit 7"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, "/bin/sh", nil, nil, &arguments, nil) == 0)
        // The child has ended, but its status has not been collected yet.
        var end = siginfo_t()
        try #require(waitid(P_PID, UInt32(child), &end, WEXITED | WNOWAIT) == 0)

        #expect(ResourceTracker.kill(markedWith: "TCPPROBE_NOBODY=1") == 0)

        var status: Int32 = 0
        #expect(waitpid(child, &status, WNOHANG) == child)
        #expect(status >> 8 == 7)
    }
}
