import ProbeBase
import CShims
import Glibc

/// How programs in a link's network look up names: with the resolver at 127.0.0.53 in that network, regardless of the
/// machine's /etc/resolv.conf. Such a program has private mounts, which disappear when the program ends.
package enum NameLookup {
    /// The address on which the resolver listens over UDP and TCP.
    package static let resolver = SocketAddress(IPAddress(v4: 0x7f00_0035), port: 53)

    /// The reason why programs can't be set up to use the resolver on this system; `nil` if they can.
    package static let obstacle: String? = {
        if access("/etc/resolv.conf", F_OK) != 0 {
            return "/etc/resolv.conf does not exist, so it can't be replaced; create it (an empty file is enough)"
        }
        if let services = SmallFile.read("/etc/nsswitch.conf").flatMap({ hostServices(in: $0) }),
            !services.contains("dns")
        {
            return
                "the line `hosts: \(services.joined(separator: " "))` of /etc/nsswitch.conf has no `dns`, so no resolver is queried"
        }
        let code = probe_names_trial()
        return code == 0 ? nil : "/etc/resolv.conf can't be replaced for a program: \(String(cString: strerror(code)))"
    }()

    /// Returns the services listed on the `hosts:` line (nsswitch.conf(5)); `nil` if there is no such line. Without
    /// such a line, the C library also queries a resolver.
    static func hostServices(in bytes: [UInt8]) -> [String]? {
        for line in bytes.split(separator: 10) {
            let text = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" || $0 == ":" }.map(String.init)
            if words.first == "hosts", text.contains(":") { return Array(words.dropFirst()) }
        }
        return nil
    }
}
