import ProbeCapture

/// Whether this process may capture on loopback. It is determined once.
enum CapturePermission {
    static let isGranted: Bool = {
        do throws(CaptureError) {
            try Capture.open(ports: CapturePorts()).close()
            return true
        } catch .notPermitted {
            return false
        } catch {
            // Any other failure must make the tests fail.
            return true
        }
    }()

    static let reason = "capture is not permitted: run as root or with CAP_NET_RAW"
}
