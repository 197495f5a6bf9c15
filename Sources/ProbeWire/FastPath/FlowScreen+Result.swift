package import ProbeBase

extension FlowScreen {
    /// Returns why a flow must be examined; nothing if it need not be.
    ///
    /// - Parameter end: the end of the capture, in nanoseconds since 1970.
    func suspicion(of conversation: borrowing Conversation, end: UInt64) -> Suspicion {
        let number = conversation.number
        guard number < states.count else { return .handshake }
        let common = states[number].common
        var suspicion = common.suspicion
        // A connection that was being set up when the capture ended has not failed.
        if conversation.handshakeTime == nil, end &- (conversation.firstTime ?? 0) >= Self.silence {
            suspicion.insert(.handshake)
        }
        if common.tinyCount >= Self.tinyCount, common.last >= Self.dripTime { suspicion.insert(.message) }
        let isDone =
            conversation.isClosed && Self.isAcknowledged(conversation.fromClient)
            && Self.isAcknowledged(conversation.fromServer)
        let sinceData = end &- common.origin &- UInt64(common.lastData) << Self.tickBits
        let isClosing = conversation.fromClient.fin != nil || conversation.fromServer.fin != nil
        if !isDone, isClosing || sinceData >= Self.silence { suspicion.insert(.end) }
        for side in [states[number].client, states[number].server] where side.mayBeHTTP {
            if common.last - side.lastData >= Self.longestMessagePause || (sinceData >= Self.silence && !isDone) {
                suspicion.insert(.message)
            }
        }
        return suspicion
    }

    /// Returns the flows that must be examined; `nil` if all flows must be.
    func suspects(among conversations: ConversationList) -> FlowSelection? {
        guard silences.isEmpty else { return nil }
        var selection = FlowSelection()
        var failures = Failures()
        for number in conversations.indices {
            let ends = conversations.endpoints(at: number)
            let (suspicion, hasFailed) = conversations.withConversation(at: number) {
                (self.suspicion(of: $0, end: silences.last), $0.handshakeTime == nil)
            }
            if hasFailed { failures.add(ends.server) }
            if !suspicion.isEmpty { selection.insert(ends.client, ends.server) }
        }
        return failures.areMany ? nil : selection
    }

    /// Counts the connections that were not set up. If there are many, those that were set up matter as well, for findings
    /// about several flows: `connections-refused-under-load`, `port-scan` and `syn-flood`.
    private struct Failures {
        private var endpoints: [SocketEndpoint: Int] = [:]
        private var addresses: [IPAddress: Int] = [:]
        private var count = 0

        mutating func add(_ server: SocketEndpoint) {
            endpoints[server, default: 0] += 1
            addresses[server.address, default: 0] += 1
            count += 1
        }

        var areMany: Bool {
            count >= 80 || endpoints.values.contains { $0 >= 3 } || addresses.values.contains { $0 >= 10 }
        }
    }

    /// The number of answers that are kept as samples of a server's answers, and the number of those that took about
    /// 200 ms or longer.
    package struct Answers: Sendable {
        package var count = 0
        package var lateCount = 0

        package init(count: Int = 0, lateCount: Int = 0) {
            self.count = count
            self.lateCount = lateCount
        }

        /// Whether half of the answers may be late.
        package var areSlow: Bool { lateCount >= 3 && lateCount * 2 >= count }

        package static func += (sum: inout Answers, other: Answers) {
            sum.count += other.count
            sum.lateCount += other.lateCount
        }
    }

    /// Adds the answers of the flows that the screen passed to those of the other flows, for each server: at least as
    /// many late ones and at most as many others as the diagnosis would keep.
    package func add(to answers: inout [SocketEndpoint: Answers], _ conversations: ConversationList) {
        for (number, state) in states.enumerated()
        where state.common.suspicion.isEmpty && state.common.lateAnswerCount > 0 {
            answers[conversations.endpoints(at: number).server, default: Answers()] += Answers()
        }
        guard !answers.isEmpty else { return }
        for (number, state) in states.enumerated() where state.common.suspicion.isEmpty {
            let late = min(Int(state.common.lateAnswerCount), Self.mostKeptAnswers)
            let count = min(Int(state.common.answerCount), Self.leastKeptAnswers)
            answers[conversations.endpoints(at: number).server]? += Answers(count: count, lateCount: late)
        }
    }

    private static func isAcknowledged(_ half: HalfConnection) -> Bool {
        half.acknowledgedEnd ?? 0 >= half.fin?.offset ?? half.sentEnd
    }
}
