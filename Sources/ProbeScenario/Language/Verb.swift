/// The verbs that each kind of actor has.
enum Verb {
    static func verbs(of kind: ActorKind) -> [String] {
        switch kind {
        case .server: ["accept", "listen", "stop listening"] + connection
        case .client: ["connect"] + connection
        case .connection: connection
        case .subject:
            ["start", "send", "expect", "half-close", "stop reading", "resume reading", "read", "stop"]
        case .process: ["start", "expect", "send", "signal", "stop"]
        case .crowd: ["start", "expect", "stop"]
        case .link: []
        }
    }

    /// What comes after `expect`, for each kind of actor.
    static func expectations(of kind: ActorKind) -> [String] {
        switch kind {
        case .server: ["no connection"] + received
        case .client, .connection: received
        case .subject:
            [
                "started", "line", "message", "sent", "leftover", "data", "accept as", "error", "stopped",
                "nothing for",
            ]
        case .process: ["listening", "output", "no output", "exit", "memory", "descriptors"]
        case .crowd, .link: []
        }
    }

    private static let connection = [
        "send", "start sending", "expect", "close", "half-close", "reset", "stop reading", "resume reading",
        "read … every",
        "set", "framing", "ignore rest",
    ]
    private static let received = [
        "line", "lines in any order", "until line", "until", "any bytes", "u16 as", "message", "urgent", "eof", "reset",
        "closed", "nothing for", "stalled for", "sent", "send failed",
    ]

    /// The first words of all verbs.
    static let all: Set<String> = [
        "accept", "listen", "stop", "connect", "send", "start", "expect", "close", "half-close", "reset", "resume",
        "read",
        "set", "framing", "ignore", "signal",
    ]
}
