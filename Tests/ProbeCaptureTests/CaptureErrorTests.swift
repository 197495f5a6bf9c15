import Glibc
import Testing

@testable import ProbeCapture

@Suite struct CaptureErrorTests {
    @Test(
        arguments: [
            (Int32(-8), CaptureError.notPermitted(interface: "lo")),
            (-11, .notPermitted(interface: "lo")),
            (-5, .noSuchInterface("lo")),
            (-9, .interfaceDown("lo")),
            (-10, .libpcap("its words")),
            (-1, .libpcap("its words")),
        ])
    func everyLibpcapStatusHasItsError(status: Int32, error: CaptureError) {
        #expect(CaptureError(status: status, interface: "lo", words: "its words") == error)
    }

    @Test func messageSaysWhatToDo() {
        let message = CaptureError.notPermitted(interface: "lo").message(executable: "/opt/bin/tcpprobe")
        #expect(
            message
                == "capture on lo is not permitted: run as root, or run `setcap cap_net_raw+ep /opt/bin/tcpprobe` after `chgrp GROUP` and `chmod 750`, because anyone who can execute the program can then read all loopback traffic"
        )
        let system = CaptureError.system(call: "eventfd", code: EMFILE).message(executable: "")
        #expect(system == "capture: eventfd: Too many open files")
    }

    @Test(arguments: ["nosuch0", "", "a name that is longer than any interface's"])
    func unknownInterfaceIsNamed(interface: String) {
        #expect(throws: CaptureError.noSuchInterface(interface)) {
            try Capture.open(interface: interface, ports: CapturePorts())
        }
    }

    private static let otherInterface: String? = {
        guard let list = if_nameindex() else { return nil }
        defer { if_freenameindex(list) }
        var index = 0
        while let name = list[index].if_name {
            let text = String(cString: name)
            if text != "lo" { return text }
            index += 1
        }
        return nil
    }()

    @Test(.enabled(if: otherInterface != nil, "the machine has no interface but loopback"))
    func onlyLoopbackIsCaptured() throws {
        let interface = try #require(Self.otherInterface)
        #expect(throws: CaptureError.notLoopback(interface)) {
            try Capture.open(interface: interface, ports: CapturePorts())
        }
    }
}
