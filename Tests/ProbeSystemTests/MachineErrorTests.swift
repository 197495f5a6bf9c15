import Glibc
import Testing

@testable import ProbeSystem

@Suite struct MachineErrorTests {
    @Test(arguments: MachineError.allCases)
    func machineErrorsAreFoundInTransportMessages(_ fault: MachineError) {
        let reason = String(cString: strerror(fault.code))
        for text in [
            reason, "the subject: \(reason)", "connect(descriptor:addr:size:): \(reason) (errno: \(fault.code))",
            "[SingleConnectionFailure(error: socket: gone (errno: \(fault.code)))]",
            "failed(type: \"Connect\", errno: \(fault.code), message: \"x\")",
        ] {
            #expect(MachineError(text: text) == fault, "\(text)")
        }
        #expect(!fault.advice.isEmpty)
    }

    @Test(arguments: [
        "", "Connection refused", "Connection reset by peer", "connect: refused (errno: 111)", "errno: 2",
        "errno: 245)",
    ])
    func otherErrorsAreNotMachineErrors(_ text: String) {
        #expect(MachineError(text: text) == nil)
    }

    @Test func portsOfTheBusiestAddressAreCountedOnce() {
        let table = """
              sl  local_address rem_address   st
               0: 0100007F:8000 00000000:0000 0A
               1: 0100007F:8000 0100007F:0050 06
               2: 0100007F:8001 0100007F:0050 01
               3: 0200007F:8000 0100007F:0050 01
               4: 0100007F:0050 0100007F:8001 01
               5: 00000000:8002 00000000:0000 0A
               6: broken
            """
        let other = "sl\n 0: 00000000000000000000000001000000:8003 0100007F:0050 01\n"
        #expect(ResourcesLeft.maxPorts(in: 0x8000...0x8FFF, [Array(table.utf8), Array(other.utf8)]) == 3)
        #expect(ResourcesLeft.maxPorts(in: 0x8000...0x8FFF, [[], []]) == 0)
        #expect(ResourcesLeft.maxPorts(in: 1...0xFFFF, [Array("0: 00000000:0050 x".utf8)]) == 1)
    }

    @Test func softLimitIsRead() {
        let limits =
            "Limit                     Soft Limit           Hard Limit\nMax open files            20                   4096     files\n"
        #expect(ResourcesLeft.openFiles(Array(limits.utf8)) == 20)
        #expect(ResourcesLeft.openFiles([]) == nil)
    }

    @Test func remainingResourcesAreReported() {
        for (lines, owner) in [
            (ResourcesLeft.here(), "this process"), (ResourcesLeft.of([getpid()]), "process \(getpid())"),
        ] {
            #expect(lines.contains { $0.hasPrefix("\(owner) has ") && $0.hasSuffix("descriptors left") })
            #expect(
                lines.contains { $0.contains(" ports from which the kernel chooses (") && $0.hasSuffix(") are left") })
        }
    }

    /// An error caused by an exhausted resource reports how much of the resource is left, whichever call failed.
    @Test(arguments: MachineError.shortages, ["socket", "bind", "connect", "accept", "epoll_ctl", "open", "send"])
    func failedCallsReportRemainingResources(_ fault: MachineError, _ call: String) {
        let error = SystemError(call, uncounted: fault.code)
        #expect(!error.advice.isEmpty && !error.resourcesLeft.isEmpty)
        #expect(SystemError(call, uncounted: ECONNREFUSED).resourcesLeft.isEmpty)
    }

    @Test(arguments: MachineError.allCases)
    func provocableErrorsDependOnAddresses(_ fault: MachineError) {
        #expect(!MachineError.provocable(staysHere: true, isFromHere: true).contains(fault))
        let isShortage = MachineError.shortages.contains(fault)
        #expect(MachineError.provocable(staysHere: false, isFromHere: true).contains(fault) != isShortage)
        let isOther = fault == .EADDRNOTAVAIL
        #expect(MachineError.provocable(staysHere: true, isFromHere: false).contains(fault) == isOther)
        #expect(MachineError(code: fault.code) == fault)
    }
}
