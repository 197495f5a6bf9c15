import ProbeBase
import CShims
import Glibc

/// How programs in a network of a link look names up: by the resolver at 127.0.0.53 there, whatever the machine's own /etc/resolv.conf says.
/// A program that is started so has mounts of its own; nothing of them is left when it has ended.
package enum NameLookup {
    /// Where the resolver listens, by UDP and by TCP.
    package static let resolver = SocketAddress(IPAddress(v4: 0x7f00_0035), port: 53)

    /// Why programs can't be made to ask it here; nil where they can.
    package static let obstacle: String? = {
        if access("/etc/resolv.conf", F_OK) != 0 {
            return "/etc/resolv.conf is not there, so that no other can be put in its place; an empty file is enough"
        }
        if let services = SmallFile.read("/etc/nsswitch.conf").flatMap({ hostServices(in: $0) }),
            !services.contains("dns")
        {
            return
                "the line `hosts: \(services.joined(separator: " "))` of /etc/nsswitch.conf has no `dns`: no resolver is asked"
        }
        let code = probe_names_trial()
        return code == 0 ? nil : "/etc/resolv.conf can't be replaced for a program: \(String(cString: strerror(code)))"
    }()

    /// The services of the line `hosts:` (nsswitch.conf(5)); nil without one: then the C library asks a resolver, too.
    static func hostServices(in bytes: [UInt8]) -> [String]? {
        for line in bytes.split(separator: 10) {
            let text = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" || $0 == ":" }.map(String.init)
            if words.first == "hosts", text.contains(":") { return Array(words.dropFirst()) }
        }
        return nil
    }
}
