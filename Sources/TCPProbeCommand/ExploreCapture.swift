import ProbeCapture
import ProbeEngine
import ProbeSystem
import Synchronization

/// The capture of `explore`: open from the start where wire statements are judged, else only for the runs whose packets are kept. Variations
/// are faster without it.
final class ExploreCapture: Sendable {
    private let ports: ClosedRange<UInt16>
    private let opened = Mutex<(Capture?, String?)?>(nil)

    init(ports: PortAllocator) {
        self.ports = ports.range
    }

    /// - Returns: the capture, or why there is none.
    func open() -> (Capture?, String?) {
        if let opened = opened.withLock({ $0 }) { return opened }
        let opening = CaptureOpening(ports: ports, bufferSize: Capture.largeBufferSize)
        let result = opening.wait(executable: executablePath())
        opened.withLock { $0 = result }
        return result
    }

    /// The configuration for runs whose captures are kept; nil if there is no capture.
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
