import ProbeBase

extension Parser {
    /// Passes over the rest of a statement whose construct was reported; what it names is in doubt.
    mutating func skipStatement() {
        var braces = 0
        while kind != .end {
            switch kind {
            case .leftBrace: braces += 1
            case .rightBrace:
                if braces == 0, blockDepth > 0 { return }
                braces -= 1
                if braces < 0 { return }
            case .newline, .semicolon:
                if braces == 0 { return }
            case .word: context.doubtful.insert(text(token))
            default: break
            }
            advance()
        }
    }

    private func add(_ name: Name, _ kind: ActorDeclaration.Kind, _ actorKind: ActorKind, from first: Token) {
        declare(name, as: "actor")
        context.actorKinds[name.value] = actorKind
        context.scenario.actors.append(ActorDeclaration(name: name, kind: kind, span: span(from: first)))
    }

    mutating func parseServer() throws(Abandoned) {
        let first = lastWord
        let name = try parseNewName("a name", "server S")
        var address: AddressExpression?
        var backlog: Expression?
        var options: [SocketOption] = []
        while !isAtEnd {
            let clause = token
            if take(word: "on") {
                address = try parseAddress(needsPort: false)
            } else if take(word: "backlog") {
                backlog = try parseExpression("a number", "backlog 0")
            } else if take(word: "with") {
                repeat { options.append(try parseSocketOption()) } while take(.comma)
            } else if isWord("tls") {
                notBuilt(.tls, at: span(clause))
                skipStatement()
            } else {
                throw unknownClause(
                    ["on", "backlog", "with", "tls"], "server S on 127.0.0.1:8080 backlog 1 with receive-buffer 4KiB")
            }
        }
        add(name, .server(address: address, backlog: backlog, options: options), .server, from: first)
    }

    private func unknownClause(_ choices: [String], _ example: String) -> Abandoned {
        guard kind == .word else { return expected("the end of the line", example) }
        return fail(.unknownWord(text(token), what: "a clause here", choices: choices), at: span(token))
    }

    mutating func parseClient() throws(Abandoned) {
        let first = lastWord
        let name = try parseNewName("a name", "client C -> S")
        var target: Target?
        var options: [SocketOption] = []
        if take(.arrow) { target = try parseTarget() }
        while !isAtEnd {
            let clause = token
            if take(word: "with") {
                repeat { options.append(try parseSocketOption()) } while take(.comma)
            } else if isWord("tls") {
                notBuilt(.tls, at: span(clause))
                skipStatement()
            } else {
                throw unknownClause(["with", "tls"], "client C -> S with receive-buffer 4KiB")
            }
        }
        add(name, .client(target: target, options: options), .client, from: first)
    }

    mutating func parseSubject() throws(Abandoned) {
        let first = lastWord
        let name = try parseNewName("a name", "subject T -> S")
        var target: Target?
        var options = SubjectOptions()
        if take(word: "listens") {
        } else if take(.arrow) {
            target = try parseTarget()
        } else {
            throw expected("`-> S` or `listens`", "subject T -> S")
        }
        while !isAtEnd {
            let clause = token
            if take(word: "with") {
                repeat { try parseSubjectOption(into: &options) } while take(.comma)
            } else if isWord("tls") {
                notBuilt(.tls, at: span(clause))
                skipStatement()
            } else {
                throw unknownClause(["with", "tls"], "subject T -> S with connect-timeout 500ms")
            }
        }
        add(name, .subject(target: target, options: options), .subject, from: first)
    }

    private mutating func parseSubjectOption(into options: inout SubjectOptions) throws(Abandoned) {
        let choices = ["connect-timeout", "idle-timeout"]
        let option = try parseName("an option (\(choices.joined(separator: ", ")))")
        switch option.value {
        case "connect-timeout": options.connectTimeout = try parseDuration("connect-timeout 500ms")
        case "idle-timeout": options.idleTimeout = try parseDuration("idle-timeout 1s")
        default:
            throw fail(.unknownWord(option.value, what: "an option of a subject", choices: choices), at: option.span)
        }
    }

    mutating func parseProcess() throws(Abandoned) {
        let first = lastWord
        let example = "process P = redis-server --port ${P.port}"
        let name = try parseNewName("a name", example)
        try expect(.assign, "`=`", example)
        let words = try parseCommandWords()
        // The ports are counted when the whole scenario is known.
        add(name, .process(ProcessCommand(words: words, portCount: 0)), .process, from: first)
    }

    // MARK: Addresses and options

    private mutating func parseTarget() throws(Abandoned) -> Target {
        let next = token(ahead: 1)
        if kind == .word, next.isSpaced || next.kind != .colon && next.kind != .dot {
            return .actor(try parseName("an actor or an address", "-> S"))
        }
        return .address(try parseAddress(needsPort: true))
    }

    /// `127.0.0.1:6379`, `[::1]:8080`, `localhost:(n + 1)`
    mutating func parseAddress(needsPort: Bool) throws(Abandoned) -> AddressExpression {
        let first = token
        let host: String
        switch kind {
        case .bracketedHost:
            host = bytes.text(Int(first.start) + 1..<Int(first.end) - 1)
            advance()
            guard HostSyntax.isIPv6(host) else { throw fail(.badHost(host), at: span(first)) }
        case .word, .number:
            advance()
            while !token.isSpaced, [.word, .number, .dot, .minus].contains(kind) { advance() }
            let place = span(from: first)
            host = bytes.text(place.start..<place.end)
            guard HostSyntax.isNameOrIPv4(host) else { throw fail(.badHost(host), at: place) }
        default: throw expected("an address", "127.0.0.1:6379")
        }
        var port: Expression?
        if take(.colon) {
            port = try parsePort()
        } else if needsPort {
            throw expected("`:` and a port", "127.0.0.1:6379")
        }
        return AddressExpression(host: host, port: port, span: span(from: first))
    }

    private mutating func parsePort() throws(Abandoned) -> Expression {
        let place = span(token)
        let port: Expression
        switch kind {
        case .number, .word, .leftParenthesis:
            // No sum outside parentheses: what follows belongs to the statement.
            if kind == .leftParenthesis || token(ahead: 1).kind == .leftParenthesis {
                port = try parseExpression()
            } else if kind == .number {
                port = Expression(.integer(try parseNumber()), span: place)
            } else {
                port = Expression(.variable(text(token)), span: place)
                advance()
            }
        default: throw expected("a port", "127.0.0.1:6379")
        }
        if case .integer(let value) = port.kind, !(1...65_535).contains(value) {
            throw fail(.badPort(value), at: place)
        }
        return port
    }

    mutating func parseSocketOption() throws(Abandoned) -> SocketOption {
        let choices = ["receive-buffer", "send-buffer", "nodelay", "keepalive"]
        let option = try parseName("an option (\(choices.joined(separator: ", ")))")
        switch option.value {
        case "receive-buffer": return .receiveBuffer(try parseExpression("a size", "receive-buffer 4KiB"))
        case "send-buffer": return .sendBuffer(try parseExpression("a size", "send-buffer 4KiB"))
        case "nodelay": return .noDelay(try parseSwitch("nodelay off"))
        case "keepalive":
            if kind == .number { return .keepAliveEvery(try parseDuration("keepalive 5s")) }
            return .keepAlive(try parseSwitch("keepalive on"))
        default: throw fail(.unknownWord(option.value, what: "a socket option", choices: choices), at: option.span)
        }
    }

    private mutating func parseSwitch(_ example: String) throws(Abandoned) -> Bool {
        if take(word: "on") { return true }
        if take(word: "off") { return false }
        throw expected("`on` or `off`", example)
    }
}

/// Whether text has the form of an address.
enum HostSyntax {
    static func isNameOrIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard !parts.contains(where: \.isEmpty), host.utf8.count <= 253 else { return false }
        let isNumeric = parts.allSatisfy { $0.utf8.allSatisfy(\.isDigit) }
        guard isNumeric else { return parts.allSatisfy { $0.utf8.count <= 63 && !$0.contains("_") } }
        return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && (Int($0) ?? 256) < 256 }
    }

    /// RFC 4291, 2.2, with an optional zone behind `%`.
    static func isIPv6(_ host: String) -> Bool {
        let address = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)[0]
        var groups = 0
        var hasGap = false
        var rest = Array(address.utf8)[...]
        if rest.starts(with: "::".utf8) {
            hasGap = true
            rest = rest.dropFirst(2)
            if rest.isEmpty { return true }
        }
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            let group = rest[rest.startIndex..<end]
            if end == rest.endIndex, group.contains(UInt8(ascii: ".")) {
                guard isNameOrIPv4(String(decoding: group, as: UTF8.self)), group.allSatisfy({ !$0.isWordStart }) else {
                    return false
                }
                groups += 2
            } else {
                guard (1...4).contains(group.count), group.allSatisfy({ $0.hexDigit != nil }) else { return false }
                groups += 1
            }
            if end == rest.endIndex { break }
            rest = rest[(end + 1)...]
            if rest.first == UInt8(ascii: ":") {
                guard !hasGap else { return false }
                hasGap = true
                rest = rest.dropFirst()
                if rest.isEmpty { break }
            }
        }
        return hasGap ? groups < 8 : groups == 8
    }
}
