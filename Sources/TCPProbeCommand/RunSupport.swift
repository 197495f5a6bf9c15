import ProbeBase
import Dispatch
import Glibc
import ProbeCapture
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeSystem
import ProbeTransport
import Synchronization

/// Opens the run's capture on another thread while the scripts are read.
final class CaptureOpening: Sendable {
    private let result = Mutex<Result<Capture, CaptureOpeningError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts opening the capture on another thread.
    ///
    /// - Parameter bufferSize: the size of the kernel's ring buffer, in bytes.
    init(ports: ClosedRange<UInt16>, bufferSize: Int) {
        DispatchQueue.global().async { [self] in
            Capture.openCaughtUp(ports: CapturePorts(range: ports), bufferSize: bufferSize) { [self] opened in
                result.withLock { $0 = opened }
                done.signal()
            }
        }
    }

    /// Waits until the capture is open and its first fence has been reached, after which no packet is missed.
    ///
    /// - Returns: the capture, or the reason why it could not be opened.
    func wait(executable: String) -> (Capture?, String?) {
        done.wait()
        switch result.withLock({ $0 }) {
        case .success(let capture): return (capture, nil)
        case .failure(.failed(let error)):
            return (
                nil,
                "no capture, so wire steps and cuts are inconclusive: \(error.message(executable: executable))"
            )
        case .failure(.deliversNothing):
            return (nil, "no capture: no packets are delivered; wire steps and cuts are inconclusive")
        case nil: return (nil, "no capture; wire steps and cuts are inconclusive")
        }
    }
}

/// The recorders of a run. Events can be recorded on any thread, and are processed one at a time.
final class RunOutput: Sendable {
    private let recorders: Mutex<RecorderSet>
    private let start = MonotonicTime.now

    init(_ recorders: sending RecorderSet) { self.recorders = Mutex(recorders) }

    func record(_ event: RunEvent) {
        let time = (MonotonicTime.now - start).nanoseconds
        recorders.withLock { $0.record(event, at: time) }
    }

    /// The time elapsed since the run began, in nanoseconds.
    var elapsed: Int64 { (MonotonicTime.now - start).nanoseconds }

    /// Updates live output ten times per second while the reactor is running.
    func tick(on reactor: Reactor) {
        reactor.schedule(at: .now + .milliseconds(100)) { [self] in
            let time = (MonotonicTime.now - start).nanoseconds
            recorders.withLock { $0.tick(at: time) }
            tick(on: reactor)
        }
    }

    /// Completes all reports of a run that is aborted by a signal.
    func abort(by signal: Int32) {
        let time = (MonotonicTime.now - start).nanoseconds
        recorders.withLock { $0.abort(signal: signal, at: time) }
    }

    /// The run's summary, which includes errors in writing reports; `nil` until the run has ended.
    var summary: RunSummary? { recorders.withLock { $0.summary } }
}

/// Quotes words for a shell command.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "-_./:=@%+,".utf8.contains(byte)
            }
        if isPlain { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// Blocks a thread until one fence has been reached or has failed.
final class FenceWaiter: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let caughtUp = Mutex(false)

    func finish(_ outcome: FenceOutcome) {
        if case .caughtUp = outcome { caughtUp.withLock { $0 = true } }
        done.signal()
    }

    /// Waits until the fence has been reached or has failed.
    ///
    /// - Returns: whether the fence was reached.
    func wait() -> Bool {
        done.wait()
        return caughtUp.withLock { $0 }
    }
}

func executablePath() -> String {
    SmallFile.linkTarget("/proc/self/exe") ?? ProgramArguments.executable ?? "tcpprobe"
}

/// Programs that are installed together with this tool. Their dependencies are not linked into the tool, so that the
/// tool starts faster.
enum CompanionProgram {
    /// The command that starts a worker of a crowd; `nil` if the program is missing.
    static var crowd: [String]? { places(of: "tcpprobe-crowd").first { access($0, X_OK) == 0 }.map { [$0] } }

    /// Returns the paths at which a companion program may be: in the folder of this program (after a build) and in
    /// `libexec/tcpprobe` (after `make install`).
    static func places(of file: String) -> [String] {
        let tool = executablePath()
        let folder = tool.lastIndex(of: "/").map { String(tool[..<$0]) } ?? "."
        let prefix = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ".."
        return ["\(folder)/\(file)", "\(prefix)/libexec/tcpprobe/\(file)"]
    }
}

extension RunConfiguration {
    static func forCommands(_ ports: PortAllocator) -> RunConfiguration {
        RunConfiguration(ports: ports, version: TCPProbe.version, crowdProgram: CompanionProgram.crowd)
    }
}
