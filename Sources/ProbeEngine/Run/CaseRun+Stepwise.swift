package import ProbeBase
package import ProbeEvents
package import ProbeScenario
package import ProbeSystem
package import ProbeWire

/// A case whose steps are not known before it begins: they come one by one, from somebody who looks at what comes back.
///
/// It has the actors of its script's header, no subject and no `case-timeout`. A step that fails does not end it.
extension CaseRun {
    /// Makes the actors.
    ///
    /// - Parameter tell: hears what comes on the connections, on the case's thread.
    /// - Returns: what is in the way; then only ``finish()`` may follow.
    package func begin(telling tell: @escaping @Sendable (CaseNews) -> Void) -> Finding? {
        context.tell = tell
        do throws(Finding) {
            try CaseSetup(context: context).makeActors()
        } catch {
            return error
        }
        blocks.caseRun = self
        context.startAnswering = { [weak self] name in self?.assumeIsolated { $0.startAnswering(name) } }
        return nil
    }

    /// Runs the steps that a script has got more.
    ///
    /// - Parameters:
    ///   - plan: of the script so far, with the new steps behind those that have run.
    ///   - first: the place of the first new one in the scenario's steps.
    /// - Returns: why one of them failed; those behind it did not run.
    package func run(_ plan: Plan, from first: Int) async -> Finding? {
        // What went wrong while no step ran was told then, and is not this step's.
        context.faults.clear()
        // The steps that it had have kept their places.
        (context.scenario, context.sources, context.index) = (plan.scenario, plan.sources, StepIndex(plan.scenario))
        context.tls.extend(to: plan.scenario)
        defer { context.faults.clear() }
        do throws(Finding) {
            if plan.scenario.namesAuthority, context.variables.values["ca"] == nil {
                context.set("ca", .bytes(Array(try context.authorityFile(at: nil).utf8)))
            }
            for step in plan.scenario.steps[first...] { _ = try await blocks.run(step, from: .now) }
            return context.faults.fault
        } catch {
            return error
        }
    }

    /// Ends the step that is running.
    package func cancelStep() {
        context.raise(Finding(.error, "the step was interrupted"))
    }

    /// The unread bytes of a connection, behind what steps have taken; nil: it has no stream of bytes to be taken from as it is.
    package func unread(of name: String) -> [UInt8]? {
        guard let actor = context.actors.connection(name), actor.framing != .websocket, actor.opening == nil else {
            return nil
        }
        return actor.connection.map { Array($0.receiveBuffer.unread) }
    }

    /// How the peer has ended a connection, if no step has expected it.
    package func untakenEnd(of name: String) -> Connection.ReadEnd? {
        guard let actor = context.actors.connection(name), actor.hasUntakenEnd else { return nil }
        return actor.connection?.readEnd
    }

    /// Whether what comes on a connection is frames of WebSocket.
    package func speaksFrames(_ name: String) -> Bool {
        guard let actor = context.actors.connection(name) else { return false }
        return actor.connection != nil && (actor.framing == .websocket || actor.opening != nil)
    }

    /// Whether a name stands for a connection that this side has not ended.
    package func isOpen(_ name: String) -> Bool { context.actors.connection(name)?.hasNoConnection == false }

    /// Whether a connection waits that no step has accepted.
    package func hasWaiting(_ server: String) -> Bool {
        guard case .server(let server)? = context.actors[server] else { return false }
        return context.hasWaiting(server)
    }

    /// Waits until a connection is there, however long that takes.
    ///
    /// - Returns: false where ``cancelStep()`` came first.
    package func waitForConnection(at server: String) async -> Bool {
        guard case .server(let actor)? = context.actors[server] else { return false }
        defer {
            context.stopWatching(actor)
            context.faults.clear()
        }
        let forever = MonotonicTime.now + .seconds(365 * 86400)
        do throws(Finding) {
            return try await context.wait(until: forever) { () throws(Finding) in
                try context.hasWaitingOrWatches(actor) ? true : nil
            } ?? false
        } catch {
            return false
        }
    }

    /// Where a server listens.
    package func address(of server: String) -> SocketAddress? {
        guard case .server(let server)? = context.actors[server] else { return nil }
        return server.address
    }

    /// The segments with a payload that came on a connection and were not dropped, each once.
    package struct ArrivedSegments: Sendable {
        package struct Segment: Sendable {
            package var count: Int
            package var time: MonotonicTime
        }

        package fileprivate(set) var list: [Segment] = []
        /// Where in the stream the first of them begins.
        package fileprivate(set) var start = 0
        /// Of the case's packets so many were looked at.
        fileprivate var next = 0

        package init() {}

        /// Those that end before a place in the stream are looked at no more.
        package mutating func drop(before place: Int) {
            var count = 0
            while count < list.count, start + list[count].count <= place {
                start += list[count].count
                count += 1
            }
            list.removeFirst(count)
        }
    }

    /// Looks for the segments in which the bytes of a name's present connection came.
    ///
    /// - Parameter known: what was found of the same connection before.
    /// - Returns: nil where they were not seen, or do not show what was read.
    package func segments(to name: String, behind known: ArrivedSegments) async -> ArrivedSegments? {
        guard let connection = context.actors.connection(name)?.connection, connection.layer == nil,
            await WireCatchUp(context: context).run(at: nil)
        else { return nil }
        let names = context.wireNames()
        guard let end = names.end(of: connection) else { return nil }
        let peer = WireEnd(index: end.index, side: end.side.opposite)
        var found = known
        for entry in names.traffic.entries[known.next...] {
            guard entry.sender == peer, let summary = entry.summary, !entry.payload.isEmpty,
                summary.kind == .new || summary.kind == .outOfOrder
            else { continue }
            found.list.append(.init(count: entry.payload.count, time: context.capture.time(of: entry.packet)))
        }
        found.next = names.traffic.entries.count
        return found
    }

    /// The packets of the case's own connections so far; nil where there is no capture.
    package func packets() async -> (link: LinkType, packets: [CapturedPacket])? {
        guard let capture = context.capture.capture, await WireCatchUp(context: context).run(at: nil) else {
            return nil
        }
        let names = context.wireNames()
        return (capture.packetLinkType, names.ownPackets.map { names.traffic.entries[$0].packet })
    }

    /// Why nothing is seen on the wire.
    package var captureProblem: String { context.captureProblem }

    /// Ends all that the case has. Nothing is judged.
    ///
    /// - Returns: what could not be ended.
    package func finish() async -> [Finding] {
        context.tell = nil
        context.faults.clear()
        let findings = await tearDown(endedWell: false)
        context.capture.release()
        return findings
    }
}
