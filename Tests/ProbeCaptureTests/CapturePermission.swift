import ProbeCapture

/// Whether this process may capture on loopback, tried once.
enum CapturePermission {
    static let isGranted: Bool = {
        do throws(CaptureError) {
            try Capture.open(ports: CapturePorts()).close()
            return true
        } catch .notPermitted {
            return false
        } catch {
            // Any other failure is a fault that the tests have to show.
            return true
        }
    }()

    static let reason = "capture is not permitted: run as root or with CAP_NET_RAW"
}
