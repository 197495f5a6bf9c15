import CPcap
import CShims
import Glibc

/// An open libpcap handle on one interface, closed when it goes out of scope.
///
/// The ring is in block mode with nanosecond timestamps. The kernel's filter is attached without libpcap, because
/// `pcap_setfilter` loses packets: it makes the socket drop everything while it changes the filter, and then filters
/// blocks in user space, where `inbound` can't be evaluated.
struct PcapHandle: ~Copyable {
    typealias Visitor =
        @convention(c) (UnsafeMutablePointer<UInt8>?, UnsafePointer<pcap_pkthdr>?, UnsafePointer<UInt8>?) -> Void

    /// The snapshot length: libpcap's maximum, which is enough for any packet on loopback.
    static let snapLength: Int32 = 262_144
    /// The time after which the kernel releases a block that is not full. Fences don't rely on this timeout.
    private static let blockTimeoutMilliseconds: Int32 = 1000

    private let handle: OpaquePointer
    let interface: String
    /// A descriptor that becomes readable when the kernel releases a block.
    let descriptor: Int32
    /// The DLT value of the packets' link type.
    let linkType: Int32
    let nanoseconds: Bool
    /// The number of packets that were dropped before the filter was attached, because other traffic had filled the
    /// ring.
    private var droppedBefore: UInt32 = 0

    init(interface: String, bufferSize: Int32) throws(CaptureError) {
        switch probe_is_loopback(interface) {
        case 1: break
        case 0: throw .notLoopback(interface)
        default:
            if errno == ENODEV { throw .noSuchInterface(interface) }
            throw .system(call: "SIOCGIFFLAGS", code: errno)
        }
        var buffer = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard let handle = pcap_create(interface, &buffer) else {
            throw .libpcap(Self.text(buffer))
        }
        pcap_set_snaplen(handle, Self.snapLength)
        pcap_set_promisc(handle, 0)
        pcap_set_timeout(handle, Self.blockTimeoutMilliseconds)
        pcap_set_buffer_size(handle, bufferSize)
        pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO)
        // The thread has CAP_NET_RAW only while it opens the handle, so that network input is read without the
        // capability.
        let had = probe_set_capability(PROBE_CAP_NET_RAW, 1)
        let status = pcap_activate(handle)
        _ = probe_set_capability(PROBE_CAP_NET_RAW, had)
        guard status >= 0 else {
            let error = CaptureError(status: status, interface: interface, words: Self.words(handle, status: status))
            pcap_close(handle)
            throw error
        }
        guard pcap_setnonblock(handle, 1, &buffer) == 0 else {
            pcap_close(handle)
            throw .libpcap(Self.text(buffer))
        }
        self.handle = handle
        self.interface = interface
        descriptor = pcap_get_selectable_fd(handle)
        linkType = pcap_datalink(handle)
        nanoseconds = pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO
    }

    deinit { pcap_close(handle) }

    /// Calls `visitor` for up to `limit` packets that the kernel has released, without waiting. Returns the number of
    /// packets.
    func dispatch(limit: Int32, to visitor: Visitor, context: UnsafeMutableRawPointer) throws(CaptureError) -> Int {
        let count = pcap_dispatch(handle, limit, visitor, context.assumingMemoryBound(to: UInt8.self))
        guard count >= 0 else { throw .libpcap(Self.words(handle, status: count)) }
        return Int(count)
    }

    /// Discards the packets that arrived before the filter was in force, and starts counting dropped packets.
    ///
    /// The ring accepts everything until the filter is attached. If there is a lot of other traffic, the ring may
    /// already be full at that time. A full ring accepts no further packets until it is read, not even packets that
    /// match the filter.
    mutating func begin() throws(CaptureError) {
        try drain()
        droppedBefore = try counters().ps_drop
        if droppedBefore == 0 { return }
        // The ring was full. For a few microseconds, another CPU may still be processing a packet that it accepted
        // before the filter was attached.
        usleep(2000)
        try drain()
        droppedBefore = try counters().ps_drop
    }

    private func drain() throws(CaptureError) {
        // Each iteration reads at least one block. Because the filter is in force, the backlog is finite, and the limit
        // of the loop is never reached.
        for _ in 0..<10_000 {
            let count = pcap_dispatch(handle, -1, { _, _, _ in }, nil)
            guard count >= 0 else { throw .libpcap(Self.words(handle, status: count)) }
            if count == 0 { return }
        }
    }

    func statistics() throws(CaptureError) -> CaptureStatistics {
        let raw = try counters()
        return CaptureStatistics(
            received: Int(raw.ps_recv), dropped: Int(raw.ps_drop &- droppedBefore), interfaceDropped: Int(raw.ps_ifdrop)
        )
    }

    private func counters() throws(CaptureError) -> pcap_stat {
        var raw = pcap_stat()
        guard pcap_stats(handle, &raw) == 0 else { throw .libpcap(Self.words(handle, status: PCAP_ERROR)) }
        return raw
    }

    /// Replaces the socket's filter atomically, without a gap between the old filter and the new filter.
    static func attach(filter expression: String, linkType: Int32, descriptor: Int32) throws(CaptureError) {
        // The filter is compiled with a dead handle, which needs no interface and shares no state with the capture's
        // thread.
        guard let compiler = pcap_open_dead(linkType, snapLength) else {
            throw .libpcap(
                "there is not enough memory "
                    + "for a packet filter")
        }
        defer { pcap_close(compiler) }
        var program = bpf_program()
        guard pcap_compile(compiler, &program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0 else {
            throw .libpcap("filter: \(words(compiler, status: PCAP_ERROR))")
        }
        defer { pcap_freecode(&program) }
        guard probe_attach_filter(descriptor, program.bf_insns, program.bf_len) == 0 else {
            throw .system(call: "SO_ATTACH_FILTER", code: errno)
        }
    }

    private static func words(_ handle: OpaquePointer, status: Int32) -> String {
        let own = pcap_geterr(handle).map { String(cString: $0) } ?? ""
        return own.isEmpty ? pcap_statustostr(status).map { String(cString: $0) } ?? "status \(status)" : own
    }

    private static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension CaptureError {
    /// Creates the error for a negative status of `pcap_activate`.
    init(status: Int32, interface: String, words: String) {
        switch status {
        case PCAP_ERROR_PERM_DENIED, PCAP_ERROR_PROMISC_PERM_DENIED: self = .notPermitted(interface: interface)
        case PCAP_ERROR_NO_SUCH_DEVICE: self = .noSuchInterface(interface)
        case PCAP_ERROR_IFACE_NOT_UP: self = .interfaceDown(interface)
        default: self = .libpcap(words)
        }
    }
}
