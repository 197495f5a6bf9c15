/// The control bits of a TCP header (RFC 9293, section 3.1; RFC 9768 for AE).
package struct TCPFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let fin = TCPFlags(rawValue: 0x01)
    package static let syn = TCPFlags(rawValue: 0x02)
    package static let rst = TCPFlags(rawValue: 0x04)
    package static let psh = TCPFlags(rawValue: 0x08)
    package static let ack = TCPFlags(rawValue: 0x10)
    package static let urg = TCPFlags(rawValue: 0x20)
    package static let ece = TCPFlags(rawValue: 0x40)
    package static let cwr = TCPFlags(rawValue: 0x80)
    package static let ae = TCPFlags(rawValue: 0x100)
}

extension TCPFlags: CustomStringConvertible {
    /// The flags in tcpdump's notation: `S`, `S.`, `P.`, `F.`, `R`, `.`; `none` if no flag is set.
    package var description: String {
        let letters: [(TCPFlags, Character)] = [
            (.fin, "F"), (.syn, "S"), (.rst, "R"), (.psh, "P"), (.urg, "U"), (.ece, "E"), (.cwr, "W"), (.ae, "e"),
            (.ack, "."),
        ]
        let text = String(letters.filter { contains($0.0) }.map { $0.1 })
        return text.isEmpty ? "none" : text
    }
}
