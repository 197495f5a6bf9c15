import ProbeBase
import CShims
import Glibc
import ProbeCapture
import ProbeWire
import Testing

/// Tests captures on the kernel's loopback interface. The suite is serialized, because it counts the descriptors and
/// threads of the process.
@Suite(.serialized, .enabled(if: CapturePermission.isGranted, Comment(rawValue: CapturePermission.reason)))
struct CaptureTests {
    @Test func fenceCoversEveryPacketOfAnExchange() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        for round in 0..<100 {
            let start = subscription.count
            try listener.connection().exchange()
            await caughtUp(capture)
            let segments = subscription.packets(from: start).compactMap(SegmentView.init)
            #expect(segments.count { $0.isSYN } == 2, "round \(round)")
            #expect(segments.count { $0.isFIN } == 2, "round \(round)")
            let lines = segments.map(\.payload).filter { !$0.isEmpty }
            #expect(lines == (0..<5).flatMap { ["ping \($0)\r\n", "pong \($0)\r\n"] }, "round \(round)")
        }
    }

    @Test func fenceCoversTheLastPacket() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        let pair = try listener.connection()
        for number in 0..<300 {
            try pair.send("line \(number)", from: pair.client)
            // From the tenth line on, a segment may have to wait for the congestion window, and may not have been sent
            // when `send` returns.
            while probe_unsent_bytes(pair.client) != 0 {}
            await caughtUp(capture)
            let lines = subscription.packets().compactMap(SegmentView.init).map(\.payload).filter { !$0.isEmpty }
            #expect(lines.last == "line \(number)")
            #expect(lines.count == number + 1)
            try pair.receive(lines.last?.utf8.count ?? 0, at: pair.server)
        }
    }

    @Test func firstFenceIsReliable() async throws {
        for _ in 0..<10 {
            let listener = try LoopbackListener()
            let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
            let subscription = try capture.subscribe(port: listener.port)
            let pair = try listener.connection()
            try pair.send("first", from: pair.client)
            await caughtUp(capture)
            #expect(subscription.packets().compactMap(SegmentView.init).contains { $0.payload == "first" })
            withExtendedLifetime(pair) {}
        }
    }

    /// Packets that arrive before the filter is attached may fill the ring, which must not stay full.
    @Test func openingDuringHeavyTrafficLosesNothing() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { @concurrent in
                let others = try LoopbackListener().connection()
                let piece = String(repeating: "x", count: 50_000)
                while !Task.isCancelled {
                    try others.send(piece, from: others.client)
                    try others.receive(piece.utf8.count, at: others.server)
                }
            }
            defer { group.cancelAll() }
            for round in 0..<40 {
                let listener = try LoopbackListener()
                let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]), bufferSize: 512 << 10)
                let subscription = try capture.subscribe(port: listener.port)
                let pair = try listener.connection()
                try pair.send("first", from: pair.client)
                // If a packet from other traffic was in flight when the filter was attached, it may be counted as
                // dropped.
                guard case .caughtUp(let dropped) = await capture.fence(timeout: capturePatience) else {
                    Issue.record("the fence was not answered in round \(round)")
                    return
                }
                let seen = subscription.packets().compactMap(SegmentView.init)
                #expect(seen.contains { $0.payload == "first" }, "round \(round), \(dropped) dropped")
                #expect(seen.count { $0.isSYN } == 2, "round \(round), \(dropped) dropped")
                withExtendedLifetime(pair) {}
            }
        }
    }

    @Test func subscriptionsSeparatePorts() async throws {
        let listeners = [try LoopbackListener(), try LoopbackListener()]
        let capture = try Capture.open(ports: CapturePorts(extra: listeners.map(\.port)))
        let subscriptions = try listeners.map { try capture.subscribe(port: $0.port) }
        for listener in listeners { try listener.connection().exchange() }
        await caughtUp(capture)
        for (subscription, port) in zip(subscriptions, listeners.map(\.port)) {
            let segments = subscription.packets().compactMap(SegmentView.init)
            #expect(segments.count { !$0.payload.isEmpty } == 10)
            #expect(segments.allSatisfy { $0.source == port || $0.destination == port })
        }
    }

    /// Packets of a connection that began before a subscription do not belong to the subscription, because the
    /// connection is from an earlier case.
    @Test func earlierConnectionsAreNotSubscribedTo() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let first = try capture.subscribe(port: listener.port)
        let earlier = try listener.connection()
        await caughtUp(capture)
        first.release()
        let subscription = try capture.subscribe(port: listener.port, since: realTime())
        try earlier.exchange()
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(Set(subscription.packets().map(\.connection)).count == 1)
        #expect(subscription.packets().compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
    }

    @Test func packetsOfAConnectionShareItsNumber() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        for _ in 0..<5 { try listener.connection().exchange() }
        await caughtUp(capture)
        let byNumber = Dictionary(grouping: subscription.packets(), by: \.connection)
        #expect(byNumber.count == 5)
        for packets in byNumber.values {
            #expect(packets.compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
        }
    }

    @Test func unsubscribedPortsAreNotStored() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        try listener.connection().exchange()
        await caughtUp(capture)
        // The packets passed the filter, so they were dropped only because no subscription existed.
        #expect(capture.statistics().received > 14)
        let subscription = try capture.subscribe(port: listener.port)
        await caughtUp(capture)
        #expect(subscription.count == 0)
    }

    @Test func widenedFilterTakesEffectAtOnce() async throws {
        let listeners = [try LoopbackListener(), try LoopbackListener()]
        let capture = try Capture.open(ports: CapturePorts(extra: [listeners[0].port]))
        let first = try capture.subscribe(port: listeners[0].port)
        for listener in listeners { try listener.connection().exchange() }
        await caughtUp(capture)
        #expect(first.count > 0)

        let second = try capture.subscribe(port: listeners[1].port)
        let start = first.count
        for listener in listeners { try listener.connection().exchange() }
        await caughtUp(capture)
        for packets in [first.packets(from: start), second.packets()] {
            #expect(packets.compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
        }
    }

    @Test func manySinglePortsFitTheFilter() async throws {
        let listener = try LoopbackListener()
        // The ports are low and close together. On the ports between them, only traffic from other programs could pass
        // the filter, and there is no such traffic.
        let scattered = (0..<200).map { UInt16(1 + $0 * 10) }
        let capture = try Capture.open(ports: CapturePorts(extra: scattered + [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        for port in scattered { try capture.add(port: port + 2) }
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(subscription.packets().compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
    }

    @Test func timesAreRealTimeNanoseconds() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        let before = realTime()
        try listener.connection().exchange()
        let after = realTime()
        await caughtUp(capture)
        let packets = subscription.packets().map(\.packet)
        #expect(packets.allSatisfy { (before...after).contains($0.time) })
        #expect(packets.contains { $0.time % 1000 != 0 })
        let toListener = packets.filter { SegmentView($0)?.destination == listener.port }.map(\.time)
        #expect(toListener == toListener.sorted())
    }

    @Test func fencesFromManyThreadsAllCatchUp() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        // Each line is sent on its own connection, so that no congestion window delays a line.
        let pairs = try (0..<64).map { _ in try listener.connection() }
        await withTaskGroup(of: Bool.self) { group in
            for (number, client) in pairs.map(\.client).enumerated() {
                group.addTask { @concurrent in
                    let line = Array("line \(number);".utf8)
                    guard send(client, line, line.count, 0) == line.count else { return false }
                    guard case .caughtUp = await capture.fence(timeout: capturePatience) else { return false }
                    let seen = subscription.packets().compactMap(SegmentView.init).map(\.payload).joined()
                    return seen.contains("line \(number);")
                }
            }
            for await complete in group { #expect(complete) }
        }
        withExtendedLifetime(pairs) {}
    }

    @Test func ringOverflowIsReported() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]), bufferSize: 512 << 10)
        let subscription = try capture.subscribe(port: listener.port)
        let pair = try listener.connection()
        // The capture's thread blocks in the completion of a fence until it reads a byte from the pipe. Meanwhile, the
        // ring fills up.
        var gate: [Int32] = [0, 0]
        try checked(pipe(&gate))
        defer { for end in gate { close(end) } }
        let (entrance, exit) = (gate[0], gate[1])
        capture.fence(timeout: capturePatience) { _ in
            var byte: UInt8 = 0
            read(entrance, &byte, 1)
        }
        let piece = String(repeating: "x", count: 50_000)
        for _ in 0..<40 {
            try pair.send(piece, from: pair.client)
            try pair.receive(piece.utf8.count, at: pair.server)
        }
        var byte: UInt8 = 0
        try checked(write(exit, &byte, 1))
        let outcome = await capture.fence(timeout: capturePatience)
        guard case .caughtUp(let dropped) = outcome else {
            Issue.record("the fence ended with \(outcome)")
            return
        }
        #expect(dropped > 0)
        #expect(capture.statistics().dropped >= dropped)
        let length: Int = subscription.packets().reduce(0) { $0 + $1.packet.originalLength }
        #expect(length < 40 * 50_000)
    }

    @Test func fullSubscriptionReportsOverflow() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port, limit: 1000)
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(subscription.overflowed)
        #expect((1...7).contains(subscription.count))
    }

    @Test func releasedSubscriptionKeepsNothing() async throws {
        let listener = try LoopbackListener()
        let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
        let subscription = try capture.subscribe(port: listener.port)
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(subscription.count > 0)
        subscription.release()
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(subscription.packets().isEmpty)

        let second = try capture.subscribe(port: listener.port)
        subscription.release()
        try listener.connection().exchange()
        await caughtUp(capture)
        #expect(second.count > 0)
        #expect(second.packets(from: second.count).isEmpty)
        #expect(second.packets(from: .max).isEmpty)
        #expect(second.packets(from: .min).count == second.count)
    }
}

private func realTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
