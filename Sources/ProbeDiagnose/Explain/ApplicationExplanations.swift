/// Findings about applications, about how connections end, about captures, and about several flows.
enum ApplicationExplanations {
    // MARK: Waits

    static let nagleDelayedAck = FindingExplanation(
        meaning: "Small segments waited for delayed ACKs (Nagle's algorithm)",
        packets: """
            A sender had a segment of less than the MSS in flight, its acknowledgment was at least 30 ms late, and the
            next segment left within 2 ms of it. The sender holds back small data until everything is acknowledged, and
            the receiver delays the acknowledgment, typically by 40 ms or 200 ms, so that it can be sent together with
            an answer. A sender that sends a small segment while another one is outstanding doesn't use the algorithm.
            It never holds back full segments; waits before those count if the ACK took ten round trips.
            """,
        severity: """
            warning from three waits, or from 5 % of the duration and 100 ms; otherwise note. If most waits were before
            full segments: warning from five
            """,
        certainty: """
            certain if the capture was made at the sender and each segment left within 2 ms of the ACK; otherwise
            likely: the program may have waited by itself, or its send buffer may hold only one message.
            """,
        side: "the sender",
        next: """
            Write each message with a single call (writev, a buffered writer): the cause is a program that writes, writes
            and then reads. Or set TCP_NODELAY on the sender's socket.
            """)

    static let tinygrams = FindingExplanation(
        meaning: "Many small segments were sent in quick succession",
        packets: """
            At least 100 segments below 100 bytes followed a segment of the same side within 10 ms, and the median of
            the side's segments is below 100 bytes. Each carries at least 40 bytes of headers.
            """,
        severity: "note",
        certainty: "certain",
        side: "the sender",
        next: """
            Write larger pieces, through a buffer that is flushed at the end of a message. If latency matters more than
            overhead, for example for keystrokes or market data, ignore the finding.
            """)

    static let slowServer = FindingExplanation(
        meaning: "The server was slow to answer",
        packets: """
            The time from the client's last data to the server's next data, without the time on the network, has a
            median of at least 500 ms over at least three answers, or was 3 s or longer once, and the server's waits
            make up at least 30 % of the duration. A single wait of 30 s suffices. Keep-alives (equal small messages of
            both sides) and other unsolicited messages are no answers; nor, without a SYN, is what a server sends that
            sent the first data, or always takes the same time. A note says that the server's waits make up more than
            80 % of a connection and more than 1 s.
            """,
        severity: "problem from 30 s if it is an answer; note if a timer may have sent it; otherwise warning",
        certainty: """
            certain if every slow answer is known to be one (to an HTTP/1 request, or to a TLS client's first message)
            and its request was acknowledged before it; otherwise likely: the request may have been late, the message
            unsolicited, or, after 10, 20, 30, 60 s or another usual timeout, the request a long poll.
            """,
        side: "the server",
        next: """
            Look at what the program did during the wait: its log, a profile, and the services that it depends on. The
            evidence names the slowest request and its answer; the time of day is shown by `--absolute`.
            """,
        explains: [.init(.applicationLimited)])

    static let slowClient = FindingExplanation(
        meaning: "The client kept the server waiting",
        packets: """
            At least three times, the client paused between 500 ms and 10 s after it had received data before it sent
            more, and these pauses make up at least half of the duration. A note says that the client's pauses make up
            more than 80 % of a connection and more than 1 s.
            """,
        severity: """
            warning; note if a person probably types (Telnet, SSH, FTP, or segments of at most 16 bytes), and for the
            share of the connection
            """,
        certainty: "likely, never certain: a user may be typing, or the client waits for another connection",
        side: "the client",
        next: """
            Look at what the client does between an answer and its next request. For an interactive session or a pool
            of idle connections, pauses are normal.
            """,
        explains: [.init(.applicationLimited)])

    static let requestUnfinished = FindingExplanation(
        meaning: "A message began and was never completed",
        packets: """
            An HTTP/1 message or a TLS record is incomplete, and nothing followed for at least 2 s, until its sender
            closed, the connection was reset, or the capture ended. For an HTTP body, the sentence states how many bytes
            of the announced length are missing.
            """,
        severity: "warning",
        certainty: """
            certain if the length was announced (a TLS record, an HTTP body); otherwise likely: the data may only look
            like HTTP.
            """,
        side: "the sender of the message",
        next: """
            Find out why the sending program stopped: a wrong Content-Length, a crash, a buffer that was not flushed.
            The receiver waits for the rest, so a slow answer is a consequence.
            """,
        explains: [.init(.slowServer)])

    static let slowDrip = FindingExplanation(
        meaning: "A client sent its request a few bytes at a time",
        packets: """
            A request of the client was incomplete for at least 10 s, arrived in at least five segments, and at less
            than 50 B/s. Programs that do this on purpose (Slowloris) occupy one connection of the server each.
            """,
        severity: "warning",
        certainty: "certain",
        side: "the client",
        next: """
            Limit the time that the server waits for a complete request (`client_header_timeout` in nginx,
            RequestReadTimeout in Apache). If the client is genuine, look at its uplink.
            """)

    static let noData = FindingExplanation(
        meaning: "The connection was set up, and nobody sent data",
        packets: """
            The handshake is in the capture, and no packet carries data until the connection was closed after at least
            10 ms, or for at least 5 s if it stayed open.
            """,
        severity: "warning from 60 s; otherwise note",
        certainty: "certain",
        side: "the client",
        next: """
            Usually harmless: a health check that only connects, a browser's spare connection, a pool. If data was
            expected, find out whether each side waits for the other to speak first, for example a client that begins
            TLS on a port that begins with a greeting.
            """)

    // MARK: TLS

    static let tlsAlert = FindingExplanation(
        meaning: "A side ended the TLS connection with an alert",
        packets: """
            A TLS alert other than close_notify was sent in plain text, and its name is shown; or an encrypted alert
            ended the handshake, or was the server's only answer to the client's data. If the server had sent
            application data before, and closes within 100 ms of the alert, the alert is taken for a close_notify.
            """,
        severity: "problem; note for a plain-text alert of the level `warning`",
        certainty: """
            certain if the alert is not encrypted; otherwise likely: it may be a close_notify. In TLS 1.3, an encrypted
            alert looks like application data, and is not recognized.
            """,
        side: "the sender of the alert, which rejects what its peer sent",
        next: """
            bad_certificate, certificate_expired and unknown_ca concern the peer's certificate; handshake_failure the
            cipher suites and groups; unrecognized_name the server name; no_application_protocol ALPN. For encrypted
            alerts, read the sender's log, or decrypt the capture (`tcpprobe inspect --follow N --decrypt`).
            """)

    static let tlsHandshakeStalled = FindingExplanation(
        meaning: "A side did not continue the TLS handshake",
        packets: """
            After a ClientHello, the next record of the handshake, or the rest of a record, was missing for at least
            2 s, and neither side had sent an alert.
            """,
        severity: "problem; warning if the handshake went on in less than 10 s",
        certainty: """
            certain if everything that the peer had sent was acknowledged, and no record was incomplete; otherwise
            likely: a packet may have been lost.
            """,
        side: "the side whose record was missing",
        next: """
            Find out what that program is waiting for: a key server or HSM, a revocation check (OCSP), a lookup of the
            client, or a thread pool without free threads. Take a stack dump while it waits.
            """,
        explains: [.init(.requestUnfinished, if: "if the same side is silent")])

    static let tlsVersionMismatch = FindingExplanation(
        meaning: "The client and the server have no TLS version in common",
        packets: """
            A side sent the alert protocol_version (70) in plain text, usually in answer to its peer's hello: none of
            the versions that the peer permits is acceptable to it.
            """,
        severity: "problem",
        certainty: "certain",
        side: "the sender of the alert",
        next: """
            Compare the versions that both sides permit (`openssl s_client -tls1_2`, `-tls1_3`), and upgrade the older
            side; don't enable TLS 1.0 or 1.1.
            """)

    static let truncatedTLS = FindingExplanation(
        meaning: "A side closed a TLS connection without sending close_notify",
        packets: """
            A FIN followed in the middle of a TLS record, so data is missing; or it followed application data without
            the alert close_notify, so that its receiver can't know whether data is missing (RFC 8446, section 6.1).
            """,
        severity: "problem if a record is incomplete; note if only close_notify is missing",
        certainty: "certain",
        side: "the sender of the FIN",
        next: """
            In the first case, find out why the program closed early (a crash, a timeout). In the second, many programs
            do this deliberately; it is harmless if the protocol marks the ends of messages itself.
            """)

    // MARK: The end

    /// Returns the explanation of `reset-by-client` or `reset-by-server`.
    static func reset(by side: String) -> FindingExplanation {
        FindingExplanation(
            meaning: "The \(side) reset the connection",
            packets: """
                The \(side) sent an RST that its peer obeyed. `reason` in the JSON is `data-after-close` (the peer sent
                data after the \(side)'s FIN), `half-open` (it did not know the connection), `idle-timeout` (nothing was
                sent for 30, 60, 300, 350 or 3600 s, within 2 %), `unread-data` (its program closed the socket before it
                had read everything), or `abort`.
                """,
            severity: """
                problem if data other than a TLS alert was not acknowledged, or a TLS record or an HTTP message was
                incomplete; note if both sides, or only the peer, had closed before, or only an alert followed the
                close; otherwise warning, also if the client closed first and less than 1,460 bytes followed
                """,
            certainty: """
                certain, as to who sent the RST, unless its TTL differs, or an answer was late but had begun before the
                client closed. The reason is certain only for `data-after-close`; see `reason-certainty`.
                """,
            side: side == "client"
                ? "the client; the server if the client spent most of the time before its close waiting for the server"
                : "the server",
            next: """
                Look for the time of the reset in the log of the program on the \(side): a crash, a timeout, a limit,
                SO_LINGER with 0. After an idle time, look for a firewall, NAT device or load balancer with that
                timeout, and set keep-alives to less than it.
                """,
            explains: [.init(.dataLostAtClose)])
    }

    static let injectedReset = FindingExplanation(
        meaning: "A reset was probably sent by another machine",
        packets: """
            The RST has another TTL (hop limit) than at least three packets of its sender, which all have the same (two,
            if the RST came before the SYN-ACK; one, if another RST has a sequence number that the sender never
            reached); or its sender sent more packets afterwards, as if it knew nothing about the RST, such as a SYN-ACK
            although an RST had refused the same SYN.
            """,
        severity: "problem; note if both sides had closed before",
        certainty: """
            certain if the sender goes on, and both the TTL and the use of the IP identification differ; otherwise
            likely: the sender may have reset the connection and gone on, or begun to listen in the meantime.
            """,
        side: "the middlebox",
        next: """
            Look for a firewall, an intrusion prevention system, a load balancer or a censor on the path. The TTL tells
            how many hops away it is. Capture on the other side, too: it often receives a reset in your name.
            """,
        explains: [.init(.dataLostAtClose, .resetByClient, .resetByServer)])

    static let dataLostAtClose = FindingExplanation(
        meaning: "Data that was sent before a close never arrived",
        packets: """
            A side sent data and a FIN, and a part of the data was not acknowledged when the connection was reset, or
            1 s or longer after the FIN at the end of the capture. The sender's close had succeeded long before. The
            number of bytes is at most what was captured. A TLS alert that announces the close doesn't count.
            """,
        severity: "problem",
        certainty: """
            certain if at least 1 s had passed since the FIN; otherwise likely: an acknowledgment may have followed.
            """,
        side: "the receiver",
        next: """
            Check whether the receiver read everything before it closed: a close with unread data sends an RST, which
            discards data in flight. The sender should wait for an answer or for the peer's FIN before it closes.
            """)

    static let halfClosed = FindingExplanation(
        meaning: "One side closed, and the other side kept its end open",
        packets: """
            The FIN of one side was acknowledged, and the other side sent neither data nor a FIN for at least 2 s. Its
            socket is in the state CLOSE_WAIT, which ends only when the program calls close.
            """,
        severity: """
            problem from 60 s; otherwise warning. If the server of an HTTP or TLS connection closed it between messages,
            warning from 60 s and otherwise note: a client's pool of connections notices it when it uses the connection
            again. If the beginning was not captured, that also applies after a second without data.
            """,
        certainty: "certain",
        side: "the side that did not close",
        next: """
            Check that the program notices the end of the stream (recv returns 0) and closes the socket; a growing
            number of sockets in CLOSE_WAIT (`ss -tan state close-wait`) is a leak of descriptors.
            """,
        explains: [.init(.resetByClient, .resetByServer, .injectedReset, if: "unless they are more serious")])

    static let vanished = FindingExplanation(
        meaning: "The peer stopped answering",
        packets: """
            The same data or FIN was sent at least four times, for at least 500 ms, or three times, for at least 10 s,
            and no packet of the peer followed, neither a FIN nor an RST, and its window was not closed. The sender's
            program still believes that it is connected, for up to 15 minutes on Linux. A series of timeouts at the end
            of a capture of only one direction is reported as possible.
            """,
        severity: "problem; note in a capture of only one direction",
        certainty: "likely, never certain: the path may have lost all packets of the sender, or all answers",
        side: "the silent peer",
        next: """
            Check whether the peer is up, and whether a firewall or NAT device has forgotten the connection, or a route
            has changed. TCP_USER_TIMEOUT limits how long the sender's program waits.
            """,
        explains: [
            .init(
                .timeoutStall, .loss, .tailLoss, .keepAliveFailed, .dataLostAtClose, .resetByClient, .resetByServer,
                .injectedReset)
        ])

    static let keepAliveFailed = FindingExplanation(
        meaning: "The peer did not answer keep-alives",
        packets: """
            At least three keep-alives were sent in a row, and no packet of the peer followed. A peer whose kernel still
            knows the connection always answers a keep-alive; one that has restarted answers with an RST.
            """,
        severity: "problem",
        certainty: "likely, never certain: the path may have lost the keep-alives or the answers",
        side: "the silent peer",
        next: """
            Check whether the peer is up, and whether a firewall or NAT device forgets idle connections. If so, begin
            keep-alives earlier than its timeout (TCP_KEEPIDLE).
            """)

    // MARK: The capture

    static let captureDroppedPackets = FindingExplanation(
        meaning: "The capture is incomplete",
        packets: """
            Data was acknowledged that is not in the capture, so the receiver had it and the capture missed it. Findings
            whose evidence lies around the missing data are less certain by one step, and at most warnings; so are
            findings about the whole flow if at least 1 % of its data is missing. A finding about something that
            happened repeatedly is affected if data is missing near at least half of its evidence.
            """,
        severity: "warning",
        certainty: "certain",
        side: "the capture",
        next: """
            Capture again with a larger buffer (`tcpdump -B 65536`), a filter, a smaller snapshot length (`-s 128`), a
            faster disk, or on one interface.
            """)

    static let oneDirection = FindingExplanation(
        meaning: "The capture contains only one direction",
        packets: """
            Only one side's packets were captured, and they are not only SYNs, so the other side sent some, too. All other findings
            about the flow are less certain by one step, and at most warnings; waits can't be assigned to a side.
            """,
        severity: "note",
        certainty: "certain",
        side: "the capture",
        next: """
            Capture at a point that the packets of both directions pass through; routes may be asymmetric. Check that
            the filter does not select only a source (`src host`), and that the mirror port copies both directions.
            """)

    static let snapLength = FindingExplanation(
        meaning: "The capture contains only the beginning of packets",
        packets: """
            Packets were cut off by the capture's snapshot length. As long as the headers are complete, sizes, times and
            losses are not affected, but what depends on the contents (TLS, HTTP) may be missed.
            """,
        severity: "note",
        certainty: "certain",
        side: "the capture",
        next: "If the contents matter, capture with `tcpdump -s 0`.")

    static let startsInTheMiddle = FindingExplanation(
        meaning: "The beginning of the connection was not captured",
        packets: """
            No SYN of either side is in the capture. Window scaling is then unknown, and the numbers of the ports decide
            which side is assumed to be the server: the one below 1024, or below 32768, if only one is. If they show
            nothing, the side that sent the first packet is assumed to be the client.
            """,
        severity: "note",
        certainty: "certain",
        side: "the capture",
        next: "Start the capture before the connection. For a long-lived one, restart the program that opens it.")

    static let offload = FindingExplanation(
        meaning: "Packets were captured before they were segmented, or after they were merged",
        packets: """
            A packet carries more data than the MSS permits: the capture was made on a host whose network card splits
            (TSO, GSO) or merges (GRO, LRO) packets. Packets are fewer and larger than on the wire.
            """,
        severity: "note",
        certainty: "certain",
        side: "the capture",
        next: """
            If sizes and numbers of packets matter, turn the functions off (`ethtool -K eth0 tso off gso off gro off`),
            or capture on the network.
            """)

    static let capturedTwice = FindingExplanation(
        meaning: "The capture contains packets twice",
        packets: """
            At least a quarter of the flow's packets are copies of others, for example of both interfaces of a router,
            or nearly all packets of one side came twice. If every packet is present twice, half of all packets are
            copies. Copies count once in all other findings. Behind a device that changes sequence numbers, the copies
            have the same IP identification and length, but other numbers; what they say about losses is then ignored.
            """,
        severity: "note",
        certainty: "certain",
        side: "the capture",
        next: "Capture on one interface instead of all (`-i any`), or on one side of the bridge or router.")

    static let clockStepped = FindingExplanation(
        meaning: "The clock of the capture was changed",
        packets: """
            The time of a packet is more than 1 ms earlier than that of the previous one of the same side, or time
            passed in the capture that did not pass in the sender's timestamps. After a step of 100 ms or more, findings
            that depend on durations are not raised for the flow.
            """,
        severity: "warning",
        certainty: """
            certain if timestamps (RFC 7323) show the step; otherwise likely: the order in which packets were stored
            may differ from the order in which they arrived.
            """,
        side: "the capture",
        next: """
            Capture again on a machine whose clock is adjusted slowly (chrony slews), or with a virtual machine that is
            not paused. Files that were merged may need sorting (`reordercap`).
            """)

    // MARK: Several flows

    static let reconnectStorm = FindingExplanation(
        meaning: "A client reconnects without pausing after failures",
        packets: """
            A client opened at least ten connections to one port of a server within 10 s, each but the first after the
            failure of another one, and each of them failed within 1 s: it was refused, not completed, or reset before
            the server had sent data. SYNs with three or more different TTLs below 32 trace a route, and don't count.
            """,
        severity: "problem",
        certainty: "certain",
        side: "the client",
        next: """
            Make the client wait longer after each failure, with a random part (exponential back-off with jitter). Then
            look at why connections fail: the findings of the individual flows name the reason.
            """,
        parts: [.refused, .noAnswer, .resetByServer, .resetByClient, .synLost, .wrongSYNAnswer])

    static let portReuse = FindingExplanation(
        meaning: "A client used the same port again soon after a connection was closed",
        packets: """
            A SYN has the addresses and ports of a connection that was closed at most 60 s earlier. The side that closed
            first keeps the old connection in TIME_WAIT for that long, and may ignore or reject the SYN.
            """,
        severity: "warning if the new connection failed; otherwise note",
        certainty: "certain",
        side: "the client",
        next: """
            Let the kernel choose the client's port, and enlarge its range (`sysctl net.ipv4.ip_local_port_range`); keep
            connections open instead of reconnecting. A NAT device with few ports has the same effect.
            """,
        parts: [.refused, .noAnswer, .wrongSYNAnswer])

    static let connectionsRefusedUnderLoad = FindingExplanation(
        meaning: "A server refused some connections while it accepted others",
        packets: """
            At least three connections to one port were refused or not answered, each within 1 s of a connection that
            was accepted there.
            """,
        severity: "problem",
        certainty: """
            likely: a firewall may limit the rate of connections, or several servers share the address and one is down.
            """,
        side: "the server",
        next: """
            Check the accept queue (`ss -ltn`, `nstat -az TcpExtListenDrops`), the limit on descriptors (`ulimit -n`),
            and limits on the number of connections, in the program and in front of it.
            """,
        parts: [.refused, .noAnswer, .resetByServer, .resetByClient, .synLost, .wrongSYNAnswer])

    static let oneServerSlow = FindingExplanation(
        meaning: "One of several servers is much slower than the others",
        packets: """
            At least three servers sent at least five answers each, and the median of one is at least 200 ms and at
            least five times that of each other server.
            """,
        severity: "warning",
        certainty: "likely: its requests may differ, or it is farther away",
        side: "the server",
        next: """
            Compare its load, its version and its configuration with those of the others, and take it out of the load
            balancer meanwhile.
            """,
        parts: [.slowServer])

    static let allFlowsStall = FindingExplanation(
        meaning: "All flows stalled and resumed together",
        packets: """
            At least three flows were active (four packets in the last 500 ms, and no silence of that length during a
            third of the length of the stall, at most 2 s). Then no packet of any flow was captured for at least 500
            ms, and all of them resumed within 100 ms of each other, with four packets in 500 ms. Flows that resume
            with a keep-alive were idle, and so are flows that pause repeatedly for the same time of 5 s or more.
            """,
        severity: "warning",
        certainty: "likely: the machine that captured, or a client, may have paused",
        side: "the path towards the server; the capture if it is also incomplete",
        next: """
            Look for what the flows share: a virtual machine that was paused or migrated, a switch that failed over, a
            Wi-Fi roam, a garbage collection.
            """,
        parts: [.timeoutStall, .loss, .tailLoss, .slowServer, .slowClient])

    static let synFlood = FindingExplanation(
        meaning: "A port received a flood of SYNs that were never completed",
        packets: """
            At least 100 connection attempts to one port began within 1 s, and at least 80 % of them were never
            completed; or as many to any ports, from at least half as many addresses, and 80 % were not answered.
            """,
        severity: "problem",
        certainty: """
            likely: a load test, a port scan, or many clients that lost their answers may look the same.
            """,
        side: "the client",
        next: """
            Check whether the addresses are genuine. Enable SYN cookies (`sysctl net.ipv4.tcp_syncookies`), and limit
            the rate in front of the server.
            """,
        parts: [.refused, .noAnswer, .resetByServer, .resetByClient, .synLost, .wrongSYNAnswer])

    static let portScan = FindingExplanation(
        meaning: "A client tried many ports of a host",
        packets: """
            One client tried at least ten ports of one host within 60 s, or in successive periods of that length, and
            each attempt was refused or not answered. It connected to at most half as many other ports of the host.
            """,
        severity: "problem",
        certainty: """
            likely: a client may look for a service, or all programs of the host may have stopped.
            """,
        side: "the client",
        next: """
            Find out which program of the client connects to these ports, and whether it is permitted to. If the host
            should offer services there, check that it is up and that no firewall rejects them.
            """,
        parts: [.refused, .noAnswer])
}
