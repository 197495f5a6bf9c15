import CPcap
import Glibc
package import ProbeWire

/// A filter for captured packets, in libpcap's syntax (pcap-filter(7)) and compiled by libpcap.
///
/// The filter is compiled for each link type that occurs. A packet does not match if the expression can't be compiled
/// for the packet's link type.
package final class PacketFilter {
    private enum Compiled {
        case program(bpf_program)
        case impossible
    }

    private let expression: String
    private var compiled: [UInt32: Compiled] = [:]

    /// Compiles an expression.
    ///
    /// - Throws: an error with libpcap's message about the expression.
    package init(_ expression: String) throws(CaptureError) {
        self.expression = expression
        // The expression is compiled for Ethernet first, because Linux's loopback has Ethernet headers, as do most
        // captures.
        compiled[LinkType.ethernet.rawValue] = .program(
            try Self.compile(expression, linkType: LinkType.ethernet.rawValue))
    }

    deinit {
        for case .program(var program) in compiled.values { pcap_freecode(&program) }
    }

    /// Returns whether a packet matches the filter.
    ///
    /// - Parameter originalLength: the packet's length on the wire; the captured part may be shorter.
    package func matches(_ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int) -> Bool {
        guard case .program(var program) = compiled(for: linkType.rawValue) else { return false }
        var header = pcap_pkthdr()
        header.caplen = UInt32(clamping: bytes.count)
        header.len = UInt32(clamping: originalLength)
        return bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return pcap_offline_filter(&program, &header, start) != 0
        }
    }

    private func compiled(for linkType: UInt32) -> Compiled {
        if let known = compiled[linkType] { return known }
        var found = Compiled.impossible
        do throws(CaptureError) {
            found = .program(try Self.compile(expression, linkType: linkType))
        } catch {
            // The expression refers to headers that packets of this link type don't have.
        }
        compiled[linkType] = found
        return found
    }

    private static func compile(_ expression: String, linkType: UInt32) throws(CaptureError) -> bpf_program {
        // The link type for raw IP has a different number in capture files than in libpcap's API (pcap-linktype(7)).
        // The other supported link types have the same number in files and in the API.
        let type = linkType == LinkType.raw.rawValue ? DLT_RAW : Int32(clamping: linkType)
        guard let compiler = pcap_open_dead(type, PcapHandle.snapLength) else {
            throw .libpcap("there is not enough memory for a packet filter")
        }
        defer { pcap_close(compiler) }
        var program = bpf_program()
        guard pcap_compile(compiler, &program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0 else {
            throw .libpcap(pcap_geterr(compiler).map { String(cString: $0) } ?? "the filter can't be compiled")
        }
        return program
    }
}
