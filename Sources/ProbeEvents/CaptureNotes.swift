package import ProbeBase
package import ProbeWire

/// What a run writes into a capture about its names and its `wire` steps, so that `inspect --check` judges a line of the script as the run
/// did: on the same connection, with the packets that had been captured by then.
///
/// The notes are comments of the file, one JSON object each. They come from a file that anyone may have written: what can't be read is
/// skipped.
package struct CaptureNotes: Sendable, Equatable {
    /// A name that was connected again.
    package struct EarlierName: Sendable, Equatable {
        package var name: String
        package var side: ConversationSide

        package init(name: String, side: ConversationSide) { (self.name, self.side) = (name, side) }
    }

    /// A connection, and the actors at its ends.
    package struct Connection: Sendable, Equatable {
        package var client: SocketEndpoint
        package var server: SocketEndpoint
        /// The sequence number of its SYN: addresses are used again.
        package var sequence: UInt32
        /// The names that are known to mean its client.
        package var clientNames: [String] = []
        package var serverNames: [String] = []
        /// The names that may mean its client or another one.
        package var clientCandidates: [String] = []
        package var serverCandidates: [String] = []
        /// The names that meant an end of it, and mean a newer connection at the end of the case.
        package var earlierNames: [EarlierName] = []
        /// Why a failure on it says nothing about any actor.
        package var doubt: String?
        /// It was an attempt of a `retry` that failed: no statement is about it.
        package var isDiscarded = false

        package init(client: SocketEndpoint, server: SocketEndpoint, sequence: UInt32) {
            self.client = client
            self.server = server
            self.sequence = sequence
        }

        package func names(at side: ConversationSide) -> [String] { side == .client ? clientNames : serverNames }

        package func earlier(at side: ConversationSide) -> [String] {
            earlierNames.filter { $0.side == side }.map(\.name)
        }

        package func candidates(at side: ConversationSide) -> [String] {
            side == .client ? clientCandidates : serverCandidates
        }
    }

    /// What a statement was about when it was judged.
    package enum Target: Sendable, Equatable {
        /// The end of a connection, by its number in `connections`.
        case end(Int, ConversationSide)
        /// All connections but these.
        case every(except: [Int])
        /// There was no such connection.
        case nothing(String)
        /// It could not be judged.
        case inconclusive(String)
    }

    /// A value of a name in a statement.
    package enum NamedValue: Sendable, Equatable {
        case integer(Int)
        case bytes([UInt8])
    }

    /// A `wire` step that was judged.
    package struct Step: Sendable, Equatable {
        /// `crlf.scn:12`
        package var place: String
        /// See `normalized(_:)`.
        package var text: String
        /// The times of the last packets that were judged, in nanoseconds since 1970; 0 if there was none.
        package var lastOnLoopback: UInt64
        package var lastOnLinks: UInt64
        package var target: Target
        package var values: [String: NamedValue] = [:]

        package init(place: String, text: String, lastOnLoopback: UInt64, lastOnLinks: UInt64, target: Target) {
            self.place = place
            self.text = text
            self.lastOnLoopback = lastOnLoopback
            self.lastOnLinks = lastOnLinks
            self.target = target
        }
    }

    package var connections: [Connection] = []
    package var steps: [Step] = []
    /// What the case's script says; nil if there are no notes.
    package var framing: Framing?
    /// The actors of the case.
    package var actors: [String] = []
    /// Those that mean every connection from or to a place, and not one connection.
    package var places: [String] = []

    package init() {}

    /// All names that statements may use.
    package var names: Set<String> {
        Set(actors).union(
            connections.flatMap {
                $0.clientNames + $0.serverNames + $0.clientCandidates + $0.serverCandidates
            })
    }

    /// The steps with this text.
    package func steps(like text: String) -> [Step] {
        if steps.isEmpty { return [] }
        let text = Self.normalized(text)
        return steps.filter { $0.text == text }
    }

    /// A statement as it is compared: without the word `wire`, with single spaces.
    package static func normalized(_ text: String) -> String {
        let words = text.split { $0 == " " || $0 == "\t" || $0.isNewline }
        return (words.first == "wire" ? words.dropFirst() : words[...]).joined(separator: " ")
    }
}

// MARK: As comments

extension CaptureNotes {
    private static let mostConnections = 10_000
    private static let mostSteps = 1_000
    /// An option of pcapng has no more bytes.
    private static let longestComment = 65_535

    /// The notes as comments of a capture file. What exceeds the limits is left out.
    package var comments: [String] {
        guard let framing else { return [] }
        let head: [JSONValue] = [
            .object([
                ("framing", .string(framing.rawValue)), ("actors", .array(actors.map { .string($0) })),
                ("places", .array(places.map { .string($0) })),
            ])
        ]
        let all =
            head + connections.prefix(Self.mostConnections).map { .object([("connection", $0.json)]) }
            + steps.suffix(Self.mostSteps).map { .object([("step", $0.json)]) }
        return all.compactMap { value in
            let bytes = value.encoded()
            return bytes.count <= Self.longestComment ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    package init(comments: [String]) {
        for comment in comments where comment.hasPrefix("{") {
            let bytes = Array(comment.utf8)
            // A comment that is no JSON is somebody's text.
            guard let value = try? JSONParser.parse(bytes.span) else { continue }
            if let text = value["framing"]?.text {
                framing = Framing(rawValue: text)
                actors = (value["actors"]?.elements ?? []).compactMap(\.text)
                places = (value["places"]?.elements ?? []).compactMap(\.text)
            }
            if let connection = value["connection"].flatMap(Connection.init(json:)) { connections.append(connection) }
            if let step = value["step"].flatMap({ Step(json: $0) }) { steps.append(step) }
        }
        let count = connections.count
        steps.removeAll { step in
            if case .end(let number, _) = step.target { number >= count } else { false }
        }
    }
}

extension CaptureNotes.Connection {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            ("client", .string(client.description)), ("server", .string(server.description)),
            ("sequence", .integer(Int(sequence))),
        ]
        for (key, names) in [
            ("clientNames", clientNames), ("serverNames", serverNames), ("clientCandidates", clientCandidates),
            ("serverCandidates", serverCandidates), ("clientEarlier", earlier(at: .client)),
            ("serverEarlier", earlier(at: .server)),
        ] where !names.isEmpty {
            members.append((key, .array(names.map { .string($0) })))
        }
        if let doubt { members.append(("doubt", .string(doubt))) }
        if isDiscarded { members.append(("discarded", .boolean(true))) }
        return .object(members)
    }

    fileprivate init?(json: JSONValue) {
        guard let client = json["client"]?.text.flatMap({ SocketEndpoint($0) }),
            let server = json["server"]?.text.flatMap({ SocketEndpoint($0) }),
            let sequence = json["sequence"]?.integer.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(client: client, server: server, sequence: sequence)
        func names(_ key: String) -> [String] { (json[key]?.elements ?? []).compactMap(\.text) }
        clientNames = names("clientNames")
        serverNames = names("serverNames")
        clientCandidates = names("clientCandidates")
        serverCandidates = names("serverCandidates")
        earlierNames =
            names("clientEarlier").map { .init(name: $0, side: .client) }
            + names("serverEarlier").map { .init(name: $0, side: .server) }
        doubt = json["doubt"]?.text
        if case .boolean(true)? = json["discarded"] { isDiscarded = true }
    }
}

extension CaptureNotes.Step {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            ("at", .string(place)), ("text", .string(text)), ("loopback", .integer(Int(clamping: lastOnLoopback))),
            ("links", .integer(Int(clamping: lastOnLinks))),
        ]
        switch target {
        case .end(let number, let side):
            members += [("connection", .integer(number)), ("from", .string(side == .client ? "client" : "server"))]
        case .every(let except): members.append(("except", .array(except.map { .integer($0) })))
        case .nothing(let text): members.append(("nothing", .string(text)))
        case .inconclusive(let text): members.append(("inconclusive", .string(text)))
        }
        if !values.isEmpty {
            let values = values.sorted { $0.key < $1.key }.map { name, value -> JSONValue.Member in
                switch value {
                case .integer(let number): (name, .integer(number))
                case .bytes(let bytes): (name, .latin1(bytes))
                }
            }
            members.append(("values", .object(values)))
        }
        return .object(members)
    }

    fileprivate init?(json: JSONValue) {
        guard let place = json["at"]?.text, let text = json["text"]?.text,
            let loopback = json["loopback"]?.integer.flatMap({ UInt64(exactly: $0) }),
            let links = json["links"]?.integer.flatMap({ UInt64(exactly: $0) })
        else { return nil }
        let target: CaptureNotes.Target
        if let number = json["connection"]?.integer, number >= 0, let from = json["from"]?.text {
            target = .end(number, from == "client" ? .client : .server)
        } else if let except = json["except"]?.elements {
            target = .every(except: except.compactMap(\.integer))
        } else if let text = json["nothing"]?.text {
            target = .nothing(text)
        } else if let text = json["inconclusive"]?.text {
            target = .inconclusive(text)
        } else {
            return nil
        }
        self.init(place: place, text: text, lastOnLoopback: loopback, lastOnLinks: links, target: target)
        guard case .object(let members)? = json["values"] else { return }
        for (name, value) in members {
            if let number = value.integer {
                values[name] = .integer(number)
            } else if let bytes = value.latin1 {
                values[name] = .bytes(bytes)
            }
        }
    }
}

extension JSONValue {
    /// The elements of an array; nil if the value is none.
    fileprivate var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}
