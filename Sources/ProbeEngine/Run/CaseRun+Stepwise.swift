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

    /// What went wrong while no step ran, as a peer that sends more than is kept.
    package var fault: Finding? { context.faults.fault }

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

    /// A segment with a payload that came.
    package struct ArrivedSegment: Sendable, Equatable {
        package var count: Int
        package var time: MonotonicTime
    }

    /// The segments in which the bytes of a connection came, each once; nil where they were not seen, or do not show what was read.
    package func segments(to name: String) async -> [ArrivedSegment]? {
        guard let connection = context.actors.connection(name)?.connection, connection.layer == nil,
            await context.catchUp(at: nil)
        else { return nil }
        let names = context.wireNames()
        guard let end = names.end(of: connection) else { return nil }
        let peer = WireEnd(index: end.index, side: end.side.opposite)
        return names.traffic.entries.compactMap { entry in
            guard entry.sender == peer, let summary = entry.summary, !entry.payload.isEmpty,
                summary.kind == .new || summary.kind == .outOfOrder
            else {
                return nil
            }
            return ArrivedSegment(count: entry.payload.count, time: context.capture.time(of: entry.packet))
        }
    }

    /// The packets of the case's own connections so far; nil where there is no capture.
    package func packets() async -> (link: LinkType, packets: [CapturedPacket])? {
        guard let capture = context.capture.capture, await context.catchUp(at: nil) else { return nil }
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
