/// Findings about how connections are set up, about windows, and about lost, late and repeated packets.
enum TransportExplanations {
    // MARK: Set-up

    static let refused = FindingExplanation(
        meaning: "The server answered the SYN with a reset",
        packets: """
            The client sent a SYN, the answer was an RST that acknowledges it, and no SYN-ACK followed. A host sends
            such an RST at once if no program listens on the port; `answer-after`, the longest of these times, is
            therefore about one round trip.
            """,
        severity: "problem; warning if the client sent another SYN, which the server accepted",
        certainty: """
            certain. The packets don't show who sent the RST: a firewall with a reject rule answers in the server's
            name.
            """,
        side: "the server",
        next: """
            Run `ss -ltn` on the server, and check that a program listens on this port and on this address, not only on
            127.0.0.1. If one does, look for a firewall that rejects the port.
            """,
        explains: [.everything(.refused, if: "if it is a problem")])

    static let noAnswer = FindingExplanation(
        meaning: "The client repeated its SYN and never received an answer",
        packets: """
            The client sent at least two SYNs (repeats within 100 ms count once), and neither a packet from the server
            nor an ICMP error followed, although the capture goes on for at least 1 s after the first SYN.
            """,
        severity: "problem",
        certainty: """
            likely, never certain, because silence has many causes: a firewall that drops the SYNs, a host that is down
            or has another address, answers that are lost or take another path, or a full accept queue.
            """,
        side: "the path towards the server",
        next: """
            Capture at the server. If the SYNs arrive there, look at the accept queue (`nstat -az TcpExtListenDrops`)
            and the local firewall; otherwise, look for the hop that drops them (`tcptraceroute`).
            """,
        explains: [.everything(.noAnswer)])

    static let synLost = FindingExplanation(
        meaning: "A packet of the handshake was repeated, and the connection was set up late",
        packets: """
            A SYN or a SYN-ACK was sent again after at least 100 ms, and the handshake was completed afterwards. Most
            systems repeat a SYN after 1 s, then after 2 s and 4 s, so the handshake lasts about that long.
            """,
        severity: "warning",
        certainty: """
            certain if the SYN-ACK was sent more often than the SYN, both sides support SACK, and the client's answer
            came at least a round trip after the last SYN-ACK; otherwise likely: the client's ACK may have been lost, the
            path may be slow, and a server whose queue of incomplete connections is full also ignores SYNs. If the client
            reports that it received the SYN-ACK twice (DSACK), a `spurious-retransmission` is reported instead.
            """,
        side: """
            the path towards the client if the SYN-ACK was sent more often than the SYN; otherwise towards the server
            """,
        next: """
            Look for losses on this path (`mtr`, interface counters). If only SYNs are lost, look at
            `nstat -az TcpExtTCPReqQFullDrop` on the server, and at devices that limit the rate of new connections.
            """,
        explains: [.init(.slowHandshake)])

    static let acceptQueueFull = FindingExplanation(
        meaning: "The server did not accept the connection although the handshake was complete",
        packets: """
            The server repeated its SYN-ACK more than 150 ms after the client had acknowledged it. Linux does so if the
            queue of connections that wait for `accept` is full when the client's ACK arrives: it drops the ACK, and the
            client believes that it is connected.
            """,
        severity: """
            problem if the server sent nothing but SYN-ACKs; otherwise warning. Note if the server did not ignore any
            data, and repeated its SYN-ACK only once, or only after more than 3 s, as a server that waits for the first
            data does (TCP_DEFER_ACCEPT).
            """,
        certainty: """
            certain if the capture was made at the server and shows that the server ignored data from the client, too;
            otherwise likely: the client's ACK may have been lost on its way.
            """,
        side: "the server",
        next: """
            Compare Recv-Q with Send-Q in `ss -ltn`, and look at `nstat -az TcpExtListenOverflows`. Make the program
            call accept faster, or enlarge its backlog (the argument of listen, `sysctl net.core.somaxconn`).
            """,
        explains: [
            .init(.timeoutStall, .loss, .tailLoss, .spuriousRetransmission, .synLost),
            .everything(.acceptQueueFull, if: "if it is a problem"),
        ])

    static let icmpUnreachable = FindingExplanation(
        meaning: "A device on the path, or the peer, reported that it could not deliver a packet",
        packets: """
            The capture contains an ICMP error that quotes a packet of this flow. The sentence repeats what the error
            says: host unreachable, administratively prohibited, fragmentation needed, time exceeded, and so on.
            """,
        severity: """
            problem; warning if data was acknowledged after the error; note for "time exceeded" about a SYN that was sent
            with a TTL below 32, as `traceroute` does
            """,
        certainty: "certain",
        side: "the middlebox that sent the error",
        next: """
            The source address of the ICMP error is the machine to look at: check its route and its firewall. After
            "fragmentation needed", check that the sender reduces its segment size (`tracepath`).
            """,
        explains: [
            .init(.timeoutStall, .loss, .tailLoss, .spuriousRetransmission),
            .everything(.icmpUnreachable, if: "if it is a problem"),
        ])

    static let slowHandshake = FindingExplanation(
        meaning: "The handshake took much longer than a round trip, although no packet was repeated",
        packets: """
            The time from the SYN to the SYN-ACK and on to the client exceeds 1 s and twice the shortest later round
            trip, or 200 ms and three times that round trip. If only the part between the capture point and the server
            can be compared, that part counts. Neither the SYN nor the SYN-ACK was repeated. There is no finding if all
            answers of the server take about as long (at least two fifths of the time, if that is 100 round trips or
            more): a device on the way acknowledges for the server, and the path is long. A note says that the path is
            long: the round trip is at least 200 ms, and the handshake and the round trips make up more than 80 % of a
            connection and more than 1 s.
            """,
        severity: "warning; note for a long path",
        certainty: "likely: the path may be that long, or a device on it may delay new connections",
        side: "the server; for a long path, the path towards the server",
        next: """
            Look at the load of the server and of the devices in front of it that take part in handshakes: firewalls,
            load balancers, SYN proxies, and machines that are started by the first packet.
            """)

    static let wrongSYNAnswer = FindingExplanation(
        meaning: "The answer to the SYN belongs to another connection",
        packets: """
            The server's answer acknowledges a number that is not that of the SYN: a challenge ACK of a connection that
            the server still knows (RFC 5961, section 4), an RST, or a SYN-ACK.
            """,
        severity: "problem; warning if the connection was set up afterwards",
        certainty: "certain",
        side: "the server",
        next: """
            Find out whether the client has reused a port too early (`ss -tan` on the server shows the old connection),
            and whether a NAT device or a load balancer sends packets to the wrong server.
            """,
        explains: [.everything(.wrongSYNAnswer, if: "if it is a problem")])

    static let noWindowScaling = FindingExplanation(
        meaning: "Window scaling was not negotiated, so at most 64 KiB can be in flight",
        packets: """
            Both SYNs were captured, and at least one has no window scale option (RFC 7323). Each round trip then
            transfers at most 65,535 bytes: 3.3 MB/s at 20 ms.
            """,
        severity: """
            warning if the receive window limited at least half of a transfer of 200 ms or more, and most windows were
            larger than 48 KiB; otherwise note
            """,
        certainty: "certain",
        side: "the side whose SYN lacks the option; the client if both lack it",
        next: """
            Run `sysctl net.ipv4.tcp_window_scaling` on that side. If it is 1, capture there as well: a device on the
            path strips the option.
            """,
        explains: [.init(.windowLimited, if: "if it is a warning")])

    static let noSACK = FindingExplanation(
        meaning: "Selective acknowledgments were not negotiated",
        packets: """
            Both SYNs were captured, and at least one does not permit SACK (RFC 2018). If several packets of a round
            trip are lost, the sender learns about only one of them per round trip, or waits for a timeout.
            """,
        severity: "note",
        certainty: "certain",
        side: "the side whose SYN lacks the option; the client if both lack it",
        next: """
            Run `sysctl net.ipv4.tcp_sack` on that side. If it is 1, a device on the path strips the option. The finding
            matters only if the flow also has losses.
            """)

    static let smallMSS = FindingExplanation(
        meaning: "A side announced an unusually small maximum segment size",
        packets: """
            The MSS option of a SYN or a SYN-ACK is below 1200 bytes (below 1220 with IPv6), so the peer must send many
            small packets.
            """,
        severity: "warning below 536 bytes (IPv6: 1220); otherwise note",
        certainty: "certain",
        side: "the side that announced it",
        next: """
            Check the MTU of that side's interface (`ip link`), and the devices that change the option (MSS clamping of
            tunnels and VPNs). A moderate value may be intended.
            """)

    static let fastOpenRejected = FindingExplanation(
        meaning: "The server did not accept the data in the SYN (TCP Fast Open)",
        packets: """
            The client's SYN carried data (with the Fast Open option, or in the captured bytes), and the SYN-ACK acknowledges only the SYN (RFC 7413). The client sends the
            data again, which costs the round trip that Fast Open was meant to save.
            """,
        severity: "note",
        certainty: "certain",
        side: "the server",
        next: """
            Enable Fast Open on the server (`sysctl net.ipv4.tcp_fastopen`, TCP_FASTOPEN on the listening socket), or
            ignore the finding: after a server's key has changed, the first attempt is always rejected.
            """)

    // MARK: Windows

    static let closedWindow = FindingExplanation(
        meaning: "The receiver stopped reading, so the sender had to stop",
        packets: """
            The receiver advertised a window of 0, and the sender was blocked by it: it sent zero-window probes, had
            used the whole window, or sent within a round trip (at least 10 ms) of the update. The receiver's kernel is
            alive and acknowledges; its program does not call recv.
            """,
        severity: """
            problem if the window was closed for at least 1 s and 10 % of the time watched, or during the last 1 s of
            the capture; warning from 500 ms and 10 %; otherwise note
            """,
        certainty: """
            certain if a probe was answered with a window of 0; otherwise likely: window updates may have been lost.
            """,
        side: "the receiver",
        next: """
            Find out what the receiving program is waiting for: `ss -tnpm` names the process and shows its full receive
            queue; take a stack dump. A proxy stops reading if what it forwards to is slow.
            """,
        explains: [
            .init(.windowLimited, .smallWindow, .sillyWindow),
            .init(
                .halfClosed, .dataLostAtClose, .resetByClient, .resetByServer, .injectedReset,
                if: "unless it is only a note"),
        ])

    static let windowLimited = FindingExplanation(
        meaning: "The receive window was too small for the path",
        packets: """
            During at least half of a transfer of 200 ms or more, the sender had used all of the window but less than a
            segment. A window allows one window per round trip: 64 KiB at 20 ms is 3.3 MB/s, however fast the link is.
            """,
        severity: """
            warning if the transfer lasted at least 1 s, the round trip is at least 5 ms, and the window of the second
            half was no more than 10 % larger than that of the first; otherwise note
            """,
        certainty: "certain if the window scale is known; likely if the capture doesn't contain both SYNs",
        side: "the receiver",
        next: """
            Enlarge the receive buffer (`sysctl net.ipv4.tcp_rmem`), or remove a fixed SO_RCVBUF from the program: it
            turns off the kernel's automatic tuning. If the receiver reads slowly, make it read faster.
            """)

    static let smallWindow = FindingExplanation(
        meaning: "The receive window was never larger than a few segments",
        packets: """
            The largest window that the receiver advertised is smaller than four segments or 8 KiB, whichever is
            larger, and its peer sent data. The window scale is known.
            """,
        severity: """
            warning if the window limited at least half of a transfer of 200 ms or more; otherwise note
            """,
        certainty: "certain",
        side: "the receiver",
        next: """
            Enlarge the receiver's buffer (SO_RCVBUF, lwIP's TCP_WND). Devices with little memory have windows of this
            size by design; then make the sender write full segments.
            """,
        explains: [.init(.windowLimited, if: "if it is a warning")])

    static let applicationLimited = FindingExplanation(
        meaning: "The sending program did not provide data fast enough",
        packets: """
            During at least half of a transfer of 200 ms or more, the sender could have sent a segment, but nothing was
            in flight, or it did not send when acknowledgments arrived (within 2 ms or a quarter of the round trip,
            whichever is longer).
            """,
        severity: "note: a program that sends at its own pace is normal",
        certainty: """
            certain if the capture was made at the sender; otherwise likely: a small send buffer has the same effect.
            """,
        side: "the sender",
        next: """
            If the transfer is too slow, profile the sending program: does it wait for a disk, a database or a lock
            between its writes? Also check that its send buffer (SO_SNDBUF) holds a window.
            """)

    static let sillyWindow = FindingExplanation(
        meaning: "The receiver opened its window a few bytes at a time",
        packets: """
            At least five segments smaller than a quarter of a full segment filled the window to its last byte: the
            silly window syndrome (RFC 9293, section 3.8.6.2).
            """,
        severity: "warning",
        certainty: "certain",
        side: "the receiver",
        next: """
            Make the receiving program read larger pieces. A correct stack announces a larger window only if it grows
            by a segment or by half of the buffer, so look for an old or embedded stack, or a proxy.
            """,
        explains: [.init(.windowLimited)])

    // MARK: Losses

    static let timeoutStall = FindingExplanation(
        meaning: "The sender stood still until its retransmission timer expired",
        packets: """
            Data was sent again at least 195 ms and a round trip after it was last sent, and after the last
            acknowledgment of new data, and not in response to a duplicate ACK or a SACK. The timer doubles with each
            timeout of the same data; `back-off` is the longest such series. `timeout` is the sum of these waits. The
            share and the severity also take waits for tail-loss probes into account, but neither time in which a
            closed window or the close of the connection was the reason to wait, nor waits for a FIN alone.
            """,
        severity: """
            problem from 3 s, or from 1 s and 10 % of the flow's duration; warning from 200 ms and 5 %; otherwise note
            """,
        certainty: """
            certain if the originals of the data are in the capture, no retransmission was unnecessary, and the data was
            acknowledged in the end; otherwise likely: acknowledgments may have been lost or delayed instead, or the peer
            may have vanished.
            """,
        side: "the path towards the receiver",
        next: """
            Find where packets are lost (`mtr`, interface counters, policers). "After the capture point" means between
            the capture and the receiver. Long series point to an outage, single timeouts to the end of bursts.
            """,
        explains: [.init(.tailLoss), .init(.loss, if: "if that is less serious")])

    static let tailLoss = FindingExplanation(
        meaning: "The last segment before a pause was sent again",
        packets: """
            The sender repeated its last segment as a tail-loss probe (RFC 8985, section 7), or after a timeout that
            can't be distinguished from one, because no acknowledgment had arrived. Nothing follows such a segment that
            could trigger a fast retransmission.
            """,
        severity: "warning if the segment was repeated after more than 500 ms; otherwise note",
        certainty: """
            certain if the acknowledgment echoes the timestamp of the probe, or if a SACK reports its data; otherwise
            likely: the acknowledgment may have been lost or delayed.
            """,
        side: "the path towards the receiver",
        next: "Look for losses on that path. A few are normal, and the probe has repaired this one."
    )

    static let loss = FindingExplanation(
        meaning: "Packets were lost",
        packets: """
            Data was sent again, and neither a DSACK nor an earlier acknowledgment shows that this was unnecessary.
            Tail-loss probes and repeated FINs don't count, nor does data that the peer no longer answers after its close
            or reset. If the first copy is in the capture, it was lost after the capture point,
            otherwise before. The share is that of the packets with data from this side.
            """,
        severity: "problem from 5 packets and 1 %; warning from 5 packets and 0.1 %; otherwise note",
        certainty: """
            certain if the first copy of a lost packet is in the capture and a SACK shows the gap; otherwise likely:
            acknowledgments were lost or delayed, or packets were only late.
            """,
        side: "the path towards the receiver",
        next: """
            Look for drops between the capture point and the receiver, or before the capture point, as the sentence
            says: `mtr`, `ip -s link`, `ethtool -S`, `tc -s qdisc`. Losses only under load mean a full queue or a
            policer; a constant share means a bad cable, Wi-Fi, or a duplex mismatch.
            """,
        explains: [
            .init(.tailLoss, .spuriousRetransmission, .reordering, if: "unless it is only a note"),
            .init(.timeoutStall, if: "unless it is only a note, or timeout-stall is more serious or lasts longer"),
        ])

    static let reordering = FindingExplanation(
        meaning: "Segments were overtaken by later ones",
        packets: """
            A segment arrived at the capture point after segments that follow it in the stream, earlier than a
            retransmission would have (three quarters of a round trip), or with an IP identification or a timestamp
            that shows that it was sent first.
            """,
        severity: "warning from 1 % of the packets with data; otherwise note",
        certainty: """
            certain if IP identifications or timestamps show the order; otherwise likely: segments may have been lost
            and retransmitted immediately.
            """,
        side: "the path towards the receiver",
        next: """
            Look for parallel links or queues that split a connection (ECMP per packet, bonding in round-robin mode,
            multi-queue devices). Modern senders tolerate reordering by less than a quarter of a round trip.
            """)

    static let spuriousRetransmission = FindingExplanation(
        meaning: "Data was sent again although it had arrived",
        packets: """
            The receiver reported the data twice (DSACK, RFC 2883), or had acknowledged it before it was repeated. The
            capacity for the second copy was wasted, and the sender may have slowed down.
            """,
        severity: "warning from 5 packets and 1 % of the packets with data; otherwise note",
        certainty: """
            certain if a DSACK reports it; otherwise likely: an acknowledgment may have been lost after the capture
            point.
            """,
        side: "the sender",
        next: """
            Look for sudden delays (a queue, Wi-Fi, a virtual machine that is paused) and for lost acknowledgments on
            the way back to the sender. A single one, after a tail-loss probe, is harmless.
            """)

    static let mtuBlackHole = FindingExplanation(
        meaning: "Large packets disappear, while small ones arrive",
        packets: """
            A packet of more than 576 bytes (IPv6: at least 1280) was sent at least three times and never acknowledged,
            and nothing of its size was ever acknowledged, while smaller packets were. Typically the handshake and the
            request work, and the first large answer hangs. If the capture was made after that point on the path, a gap
            of at least a full segment was filled after a timeout with smaller segments, and no full segment arrived.
            """,
        severity: "problem",
        certainty: """
            certain if a smaller packet that was sent later arrived (SACK), or if an ICMP error reports that the packet
            is too big; otherwise likely: the peer may have vanished, or a device drops packets by their content.
            """,
        side: "the path towards the receiver",
        next: """
            Run `tracepath` to the receiver. Permit ICMP "fragmentation needed" (IPv6: "packet too big") in firewalls,
            or clamp the MSS at the tunnel. `sysctl net.ipv4.tcp_mtu_probing=1` at the sender works around it.
            """,
        explains: [
            .init(.loss, .timeoutStall, .tailLoss, .vanished, .resetByClient, .resetByServer, .injectedReset)
        ])

    static let bufferbloat = FindingExplanation(
        meaning: "A queue on the path fills up and delays the flow",
        packets: """
            With several segments in flight, the 95th percentile of the round trip exceeds the minimum by more than 100
            ms and is more than four times the minimum, at least five of at least eight measurements exceed it by more
            than 100 ms, and the round trip grows with the data in flight (correlation above 0.3). Segments that had to
            wait for a lost segment to be sent again are not measured.
            """,
        severity: "warning",
        certainty: """
            certain if the correlation exceeds 0.7 over at least 20 measurements; otherwise likely: a busy receiver may
            acknowledge late.
            """,
        side: "the path towards the receiver",
        next: """
            Find the bottleneck, often the uplink of a router or modem. Use fq_codel or cake there, or limit the sender
            to slightly less than the bottleneck's rate, so that the queue forms where you control it.
            """,
        explains: [.init(.windowLimited, .smallWindow)])

    static let duplicatePackets = FindingExplanation(
        meaning: "The network delivered packets twice",
        packets: """
            A packet has the same IP identification, numbers and length as an earlier one, arrived 1 to 100 ms after it,
            and is not a retransmission: a sender would have used a new identification or timestamp. If a quarter of all
            packets are copies, if nearly all packets of one side came twice, or if the capture was made at their
            sender, `captured-twice` is reported instead. Retries of an 802.11 sender are not counted.
            """,
        severity: "warning from 1 % of the flow's packets; otherwise note",
        certainty: """
            certain if the sender gives each packet its own IP identification; otherwise likely: the capture may contain
            packets twice.
            """,
        side: "the path towards the receiver",
        next: """
            Look for a loop, a mirror port that feeds back into the network, bonding in broadcast mode, or redundant
            paths that both deliver.
            """,
        explains: [.init(.spuriousRetransmission, if: "unless that is more serious")])

    static let sackReneging = FindingExplanation(
        meaning: "The receiver dropped data that it had reported as received",
        packets: """
            A SACK block reported data, later acknowledgments neither cover nor report it any more, and the sender sent
            it again (RFC 2018, section 8, permits this only if memory runs out).
            """,
        severity: "warning",
        certainty: "certain, unless a device changes sequence numbers but not the SACK blocks",
        side: "the receiver",
        next: """
            Check the receiver's memory for sockets (`nstat -az TcpExtOfoPruned TcpExtRcvPruned` there,
            `sysctl net.ipv4.tcp_mem`), and firewalls that randomize sequence numbers. The sender counts the events in
            `nstat -az TcpExtTCPSACKReneging`.
            """)
}
