package import ProbeBase

/// The declaration of a crowd: `crowd W = 10000 clients -> S with receive-buffer 4KiB`, `crowd V = 5000 servers`.
package struct CrowdDeclaration: Sendable {
    /// The number of members, known before the case begins.
    package var count: Expression
    package var role: CrowdRole
    package var receiveBuffer: Expression?
    /// The source addresses of the members, as in `from 127.0.0.2..127.0.0.9`; `nil` means 127.0.0.1, as long as that
    /// address has free ports.
    package var sources: (addresses: ClosedRange<UInt32>, span: SourceSpan)?

    package init(count: Expression, role: CrowdRole, receiveBuffer: Expression? = nil) {
        (self.count, self.role, self.receiveBuffer) = (count, role, receiveBuffer)
    }
}

/// The role of a crowd's members.
package enum CrowdRole: Sendable {
    /// Each member opens a connection.
    case clients(Target)
    /// Each member is a connection that was accepted on the port of the crowd.
    case servers
}

/// The script that each member of a crowd executes:
/// `{ connect; send "GET / HTTP/1.1\r\n"; send "X-a: b\r\n" every 10s }`.
package struct CrowdScript: Sendable {
    package var statements: [CrowdStatement]
    package var span: SourceSpan

    package init(statements: [CrowdStatement], span: SourceSpan) {
        (self.statements, self.span) = (statements, span)
    }

    /// All statements of the script. The statements inside a `repeat` follow the `repeat` itself.
    package var all: [CrowdStatement] { Self.flat(statements) }

    private static func flat(_ statements: [CrowdStatement]) -> [CrowdStatement] {
        statements.flatMap { statement in
            if case .repeats(let inner) = statement.kind { [statement] + flat(inner) } else { [statement] }
        }
    }
}

/// One statement of a member's script.
package struct CrowdStatement: Sendable {
    package indirect enum Kind: Sendable {
        case connect
        /// Sends bytes. If `isEndless` is set, the send is repeated indefinitely: it has an `every` clause, but no
        /// separate pieces.
        case send(SendStatement, isEndless: Bool)
        case expect(CrowdWait)
        case wait(Duration)
        case close
        case reset
        case stopReading
        /// Allows this connection to receive bytes that no statement consumes.
        case acceptRest
        /// `read 1B every 1s`: from this statement on, limits how fast the member reads.
        case read(count: Expression, every: Duration)
        /// Repeats these statements until the crowd stops.
        case repeats([CrowdStatement])
    }

    package var kind: Kind
    /// The deadline of `connect` and `expect`; `nil` means the scenario's `timeout`.
    package var within: Duration?
    package var span: SourceSpan

    package init(kind: Kind, within: Duration? = nil, span: SourceSpan) {
        (self.kind, self.within, self.span) = (kind, within, span)
    }
}

/// The input that a member waits for.
package enum CrowdWait: Sendable {
    case line(Pattern)
    case count(Expression)
    case until(delimiter: Expression)
    /// The peer's FIN.
    case eof
}

/// What a crowd is expected to have achieved: `connected 10000`, `alive >= 9990`, `latency p99 <= 50ms of line`.
package enum CrowdExpectation: Sendable {
    case count(CrowdCount, Comparison, Expression)
    case latency(Percentile, Comparison, Duration, of: MemberWait)
}

/// The states of members that a crowd counts.
package enum CrowdCount: String, Sendable, CaseIterable {
    /// The members that have been connected at least once. A member that reconnects is counted only once.
    case connected
    /// The members that are connected now.
    case alive
    /// The members that have failed to execute a statement of their script.
    case failed
    /// The members that have reached the end of their script.
    case done
}

/// A percentile of the measured times: `p99`, `p99.9`, `max`.
package struct Percentile: Sendable, Equatable {
    /// The percentile, from 0 to 100; `max` is 100.
    package var value: Double

    package init(value: Double) { self.value = value }

    /// The percentile as written in a script.
    package var text: String {
        if value == 100 { return "max" }
        let text = "\(value)"
        return "p" + (text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}
