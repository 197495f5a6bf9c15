import ProbeCapture

/// Determines, once per process, whether this process may capture on loopback.
enum CapturePermission {
    static let isGranted: Bool = {
        do throws(CaptureError) {
            try Capture.open(ports: CapturePorts()).close()
            return true
        } catch .notPermitted {
            return false
        } catch {
            // If capturing fails for a reason other than a missing permission, the tests are run, so that they fail.
            return true
        }
    }()

    static let reason = "capture is not permitted: run as root or with CAP_NET_RAW"
}
