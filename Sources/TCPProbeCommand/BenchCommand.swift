import ProbeBase
import ArgumentParser
import CShims
import Glibc
import ProbeCapture
import ProbeReport
import ProbeSystem

/// Measures parts of the tool that no scenario covers. Used by `make bench`.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the performance of a part of tcpprobe.", shouldDisplay: false,
        subcommands: [Fence.self, BenchCapture.self])

    struct Fence: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fence", abstract: "Measure the latency of the capture's fence, and print it as JSON.")

        @Argument(help: "Number of fences.")
        var count: Int

        func validate() throws {
            if !(1...1_000_000).contains(count) { throw ValidationError("the count must be from 1 to 1000000") }
        }

        func run() throws {
            let capture: Capture
            do {
                capture = try Capture.open(ports: CapturePorts(range: 10_000...32_767))
            } catch {
                Console.standardError.write("error: \(error.message(executable: "tcpprobe"))\n")
                throw ExitCode(3)
            }
            var times: [Int64] = []
            var lost = 0
            var firstLost = false
            for index in 0..<count {
                let begun = MonotonicTime.now
                let done = FenceWaiter()
                capture.fence(timeout: .seconds(1)) { done.finish($0) }
                if !done.wait() {
                    lost += 1
                    firstLost = firstLost || index == 0
                }
                times.append((MonotonicTime.now - begun).nanoseconds)
                usleep(1000)
            }
            capture.leaveClosingToKernel()
            times.sort()
            func percentile(_ share: Double) -> Int64 {
                times[min(times.count - 1, Int(Double(times.count) * share))] / 1000
            }
            Console.standardOutput.write(
                "{\"fences\": \(count), \"p50-us\": \(percentile(0.5)), \"p99-us\": \(percentile(0.99)), "
                    + "\"lost\": \(lost), \"first-lost\": \(firstLost)}\n")
        }
    }
}
