import Testing

@testable import ProbeSystem

/// Tests which services the C library uses to look up hosts.
struct NameLookupTests {
    @Test(arguments: [
        ("hosts:          files dns\n", ["files", "dns"]), ("#hosts: files\nhosts:dns # files\n", ["dns"]),
        (
            "passwd: files\n\thosts: files mdns4_minimal [NOTFOUND=return] dns\n",
            ["files", "mdns4_minimal", "[NOTFOUND=return]", "dns"]
        ),
        ("hosts: files\nnetworks: dns\n", ["files"]), ("hosts:\n", []), ("passwd: files\n", nil),
        ("hosts files\n", nil),
        ("", nil),
    ])
    func hostServicesAreParsed(_ text: String, _ services: [String]?) {
        #expect(NameLookup.hostServices(in: Array(text.utf8)) == services)
    }
}
