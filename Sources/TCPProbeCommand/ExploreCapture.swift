import ProbeCapture
import ProbeEngine
import ProbeSystem
import Synchronization

/// The capture used by `explore`. The capture is opened at the start only if wire statements must be judged. Otherwise,
/// it is opened later, for the runs whose packets are kept, because variations run faster without a capture.
final class ExploreCapture: Sendable {
    private let ports: ClosedRange<UInt16>
    private let opened = Mutex<(Capture?, String?)?>(nil)

    init(ports: PortAllocator) {
        self.ports = ports.range
    }

    /// Opens the capture when first called.
    ///
    /// - Returns: the capture, or the reason why it could not be opened.
    func open() -> (Capture?, String?) {
        if let opened = opened.withLock({ $0 }) { return opened }
        let opening = CaptureOpening(ports: ports, bufferSize: Capture.largeBufferSize)
        let result = opening.wait(executable: executablePath())
        opened.withLock { $0 = result }
        return result
    }

    /// Returns the configuration for runs whose captures are kept; `nil` if there is no capture.
    func configuration(_ configuration: RunConfiguration, _ folder: Folder, path: String) -> RunConfiguration? {
        var result = configuration
        (result.capture, result.captureProblem) = open()
        if result.capture == nil { return nil }
        result.keep = .all
        result.outputFolder = path
        result.openedFolder = folder
        result.parallel = 1
        return result
    }
}
