import ProbeBase
import Glibc

/// A name that can't be resolved.
package struct NameError: Error, Sendable {
    package let text: String
}

extension SocketAddress {
    /// The first address that the system has for a name.
    package static func resolved(_ host: String, port: UInt16) throws(NameError) -> SocketAddress {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        let shown = Escaped.text(host.utf8)
        guard code == 0, let first = list?.pointee.ai_addr else {
            throw NameError(text: "\(shown) can't be resolved: \(String(cString: gai_strerror(code)))")
        }
        var text = [CChar](repeating: 0, count: 256)
        getnameinfo(first, list?.pointee.ai_addrlen ?? 0, &text, 256, nil, 0, NI_NUMERICHOST)
        let numeric = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let address = SocketAddress(numeric: numeric, port: port) else {
            throw NameError(text: "\(shown) resolves to \(numeric), which is no IP address")
        }
        return address
    }
}
