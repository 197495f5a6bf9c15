import ProbeBase
import ProbeEvents
import ProbeInspect
import ProbeScenario
import ProbeWire
import Testing

/// Tests of statements that name actors of a run, and of statements that were steps of the run.
@Suite struct RunCheckTests {
    private static let connection = CaptureBuilder.Connection(client: 40_000, server: 25)

    /// C sends `one` before a step and `two` after it, and resets the connection.
    private static let capture: (bytes: [UInt8], middle: UInt64) = {
        var capture = CaptureBuilder()
        var connection = RunCheckTests.connection
        capture.open(connection)
        capture.send(&connection, .client, "one")
        let middle = capture.time - 1
        capture.send(&connection, .client, "two")
        capture.packet(connection, .client, flags: 0x14)
        return (capture.bytes, middle)
    }()

    private static var notes: CaptureNotes {
        var notes = CaptureNotes()
        notes.framing = .crlf
        let loopback = { SocketEndpoint(address: IPAddress("127.0.0.1")!, port: $0) }
        var own = CaptureNotes.Connection(client: loopback(40_000), server: loopback(25), sequence: 1_000)
        own.clientNames = ["C"]
        own.serverNames = ["S", "A"]
        notes.connections = [own]
        func step(_ text: String, _ target: CaptureNotes.Target) -> CaptureNotes.Step {
            CaptureNotes.Step(
                place: "a.scn:7", text: text, lastOnLoopback: capture.middle, lastOnLinks: 0, target: target)
        }
        notes.steps = [
            step("C -> S segments 1", .end(0, .client)), step("no rst", .every(except: [])),
            step("fin from S", .nothing("no connection of S was seen on the wire")),
            step("rst from S", .inconclusive("the machine was overloaded")),
        ]
        var counted = step("C -> S segments n", .end(0, .client))
        counted.values = ["n": .integer(1)]
        notes.steps.append(counted)
        return notes
    }

    private func verdicts(_ text: String, _ notes: CaptureNotes = notes, isOnWhole: Bool = false) throws -> [Verdict] {
        let list = try WireCheck.parse(
            path: "c", bytes: Array(text.utf8), framing: nil, notes: notes
        ) { (_) throws(LoadError) in throw .notFound }.get()
        let run = RunCheck(notes: notes, view: nil, isOnWhole: isOnWhole)
        return try list.checks.flatMap { check in
            try run.tasks(check).flatMap { task in
                let last = task.scope.last?.onLoopback ?? .max
                let inspection = try inspect(
                    Self.capture.bytes, limits: .judging([task.assertion]),
                    accepts: { record, _ in record.time <= last })
                return run.outcomes(of: task, on: inspection, arrivals: { nil }, filter: ConnectionFilter()).map(
                    \.verdict)
            }
        }
    }

    @Test(
        arguments: [
            ("wire C -> S segments 1", Verdict.passed), ("wire  C -> S\tsegments 1", .passed),
            ("wire C -> S segments 2", .passed), ("wire C -> A segments 2", .passed), ("wire no rst", .passed),
            ("wire rst from C", .passed), ("wire S -> C segments 1", .failed), ("wire fin from S", .failed),
            ("wire rst from S", .inconclusive), ("wire C -> S segments n", .passed),
            ("wire client -> server segments 2", .passed), ("wire client -> server segments 1", .failed),
        ])
    func statementsAreJudgedAsInTheRun(text: String, verdict: Verdict) throws {
        #expect(try verdicts(text) == [verdict])
    }

    @Test func wholeCaptureIsJudgedOnRequest() throws {
        #expect(try verdicts("wire C -> S segments 1", isOnWhole: true) == [.failed])
        #expect(try verdicts("wire no rst", isOnWhole: true) == [.failed])
    }

    @Test func stepThatRanTwiceIsJudgedTwice() throws {
        var notes = Self.notes
        var later = notes.steps[0]
        later.lastOnLoopback = .max
        notes.steps.append(later)
        #expect(try verdicts("wire C -> S segments 1", notes) == [.passed, .failed])
    }

    @Test func ambiguousNameIsInconclusive() throws {
        var notes = Self.notes
        notes.connections.append(notes.connections[0])
        notes.connections[1].sequence = 7
        #expect(try verdicts("wire C -> S segments 2", notes) == [.inconclusive])
    }

    @Test func discardedAttemptIsNotJudged() throws {
        var notes = Self.notes
        notes.steps = []
        notes.connections[0].isDiscarded = true
        // The only connection was discarded, and a statement never passes if it applies to no connection.
        #expect(try verdicts("wire no rst", notes) == [.failed])
    }

    @Test func failureOnAnUncertainConnectionIsInconclusive() throws {
        var notes = Self.notes
        notes.steps = []
        notes.connections[0].doubt = "it may be another actor's"
        #expect(try verdicts("wire no rst", notes) == [.inconclusive])
    }

    @Test func notesRoundTripThroughComments() {
        var notes = Self.notes
        notes.steps[0].values = ["n": .integer(-3), "raw": .bytes([0, 0x22, 0x80, 0xff])]
        notes.connections[0].doubt = "\"quoted\" \\"
        notes.connections[0].clientCandidates = ["D"]
        notes.connections[0].earlierNames = [.init(name: "E", side: .client), .init(name: "F", side: .server)]
        notes.places = ["S"]
        #expect(CaptureNotes(comments: ["case x"] + notes.comments) == notes)
    }

    @Test func connectionsAfterADamagedNoteAreNotRenumbered() {
        var notes = Self.notes
        notes.connections.insert(notes.connections[0], at: 0)
        notes.steps = [notes.steps[0], notes.steps[1]]
        notes.steps[0].target = .end(1, .client)
        var comments = notes.comments
        comments[1] = "{\"connection\":{\"client\":\"damaged\"}}"
        let read = CaptureNotes(comments: comments)
        #expect(read.connections.isEmpty)
        #expect(read.steps == [notes.steps[1]])
    }

    /// The actor A belongs to the connection that C had before it reconnected.
    @Test(arguments: [("A", Verdict.passed), ("S", .failed), ("B", .failed)])
    func earlierConnectionIsFoundByItsName(peer: String, verdict: Verdict) throws {
        var notes = Self.notes
        notes.steps = []
        notes.places = ["S"]
        notes.connections[0].clientNames = []
        notes.connections[0].earlierNames = [.init(name: "C", side: .client)]
        var newer = notes.connections[0]
        (newer.clientNames, newer.serverNames, newer.earlierNames) = (["C"], ["B"], [])
        newer.client.port += 1
        notes.connections.append(newer)
        #expect(try verdicts("wire C -> \(peer) segments 2", notes) == [verdict])
    }

    @Test(
        arguments: [
            "{", "{}", "{\"step\":{}}", "{\"step\":1}", "{\"connection\":{\"client\":\"x\"}}",
            "{\"framing\":\"none such\"}",
            "{\"step\":{\"at\":\"a\",\"text\":\"b\",\"loopback\":-1,\"links\":0,\"connection\":0,\"from\":\"client\"}}",
            "{\"step\":{\"at\":\"a\",\"text\":\"b\",\"loopback\":1,\"links\":0,\"connection\":9,\"from\":\"client\"}}",
        ])
    func otherCommentsAreIgnored(comment: String) {
        #expect(CaptureNotes(comments: [comment]) == CaptureNotes())
    }
}
