package import ProbeBase

/// `crowd W = 10000 clients -> S with receive-buffer 4KiB`, `crowd V = 5000 servers`
package struct CrowdDeclaration: Sendable {
    /// How many members it has: known before the case begins.
    package var count: Expression
    package var role: CrowdRole
    package var receiveBuffer: Expression?
    /// `from 127.0.0.2..127.0.0.9`: what its members connect from; nil: 127.0.0.1, as long as it has free ports.
    package var sources: (addresses: ClosedRange<UInt32>, span: SourceSpan)?

    package init(count: Expression, role: CrowdRole, receiveBuffer: Expression? = nil) {
        (self.count, self.role, self.receiveBuffer) = (count, role, receiveBuffer)
    }
}

/// Who the members of a crowd are.
package enum CrowdRole: Sendable {
    /// Each makes a connection.
    case clients(Target)
    /// Each is a connection that came to the one port of the crowd.
    case servers
}

/// `{ connect; send "GET / HTTP/1.1\r\n"; send "X-a: b\r\n" every 10s }`: what each member of a crowd does.
package struct CrowdScript: Sendable {
    package var statements: [CrowdStatement]
    package var span: SourceSpan

    package init(statements: [CrowdStatement], span: SourceSpan) {
        (self.statements, self.span) = (statements, span)
    }

    /// All statements, those inside of `repeat` behind it.
    package var all: [CrowdStatement] { Self.flat(statements) }

    private static func flat(_ statements: [CrowdStatement]) -> [CrowdStatement] {
        statements.flatMap { statement in
            if case .repeats(let inner) = statement.kind { [statement] + flat(inner) } else { [statement] }
        }
    }
}

/// One statement of a member.
package struct CrowdStatement: Sendable {
    package indirect enum Kind: Sendable {
        case connect
        /// `every` without pieces of its own repeats the send for ever.
        case send(SendStatement, isEndless: Bool)
        case expect(CrowdWait)
        case wait(Duration)
        case close
        case reset
        case stopReading
        /// Bytes that nothing consumes on this connection are accepted.
        case acceptRest
        /// `read 1B every 1s`: from here on it takes no more than that. nil: as it comes again.
        case read(count: Expression, every: Duration)
        /// To the end of the crowd.
        case repeats([CrowdStatement])
    }

    package var kind: Kind
    /// Of `connect` and `expect`; else the scenario's `timeout`.
    package var within: Duration?
    package var span: SourceSpan

    package init(kind: Kind, within: Duration? = nil, span: SourceSpan) {
        (self.kind, self.within, self.span) = (kind, within, span)
    }
}

/// What a member waits for.
package enum CrowdWait: Sendable {
    case line(Pattern)
    case count(Expression)
    case until(delimiter: Expression)
    /// The peer's FIN.
    case eof
}

/// `connected 10000`, `alive >= 9990`, `latency p99 <= 50ms of line`
package enum CrowdExpectation: Sendable {
    case count(CrowdCount, Comparison, Expression)
    case latency(Percentile, Comparison, Duration, of: MemberWait)
}

/// What is counted of members.
package enum CrowdCount: String, Sendable, CaseIterable {
    /// Was ever connected; of a member that connects again, once.
    case connected
    /// Is connected now.
    case alive
    /// Could not do what its script says.
    case failed
    /// Has come to the end of its script.
    case done
}

/// `p99`, `p99.9`, `max`
package struct Percentile: Sendable, Equatable {
    /// 0 to 100; `max` is 100.
    package var value: Double

    package init(value: Double) { self.value = value }

    /// As it is written.
    package var text: String {
        if value == 100 { return "max" }
        let text = "\(value)"
        return "p" + (text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}
