import ProbeCapture
import ProbeEngine
import ProbeSystem
import Synchronization

/// The capture of `explore`: open from the start if wire statements are judged, otherwise only for runs whose packets
/// are kept, because variations are faster without it.
final class ExploreCapture: Sendable {
    private let ports: ClosedRange<UInt16>
    private let opened = Mutex<(Capture?, String?)?>(nil)

    init(ports: PortAllocator) {
        self.ports = ports.range
    }

    /// Opens the capture on the first call.
    ///
    /// - Returns: the capture, or the reason why there is none.
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
