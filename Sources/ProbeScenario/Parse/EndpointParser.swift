import ProbeBase

/// Parses addresses, targets of connections, and socket options.
struct EndpointParser: GrammarPart {
    let cursor: TokenCursor

    private var values: ValueParser { ValueParser(cursor: cursor) }

    /// Parses the target of a connection.
    ///
    /// - Parameter allowsName: whether a host name is also allowed.
    func parseTarget(allowsName: Bool = false) throws(Abandoned) -> Target {
        if cursor.kind == .string || cursor.kind == .rawString {
            return .address(try parseNamed(isAllowed: allowsName))
        }
        if let address = try parseUnixAddress(needsPath: true) { return .address(address) }
        let next = cursor.token(ahead: 1)
        if cursor.kind == .word, next.isSpaced || next.kind != .colon && next.kind != .dot {
            return .actor(try cursor.parseName("an actor or an address", "-> S"))
        }
        return .address(try parseAddress(needsPort: true))
    }

    /// Parses a host name with a port: `"dual.test":8080`.
    private func parseNamed(isAllowed: Bool) throws(Abandoned) -> AddressExpression {
        let first = cursor.token
        if !isAllowed {
            cursor.report(
                .hostName, "only a subject can connect to a host name",
                hint:
                    "connect to an actor: `client C -> S`; to test host names, use a subject, such as "
                    + "`subject T -> \"dual.test\":8080`, or a program", at: cursor.span(first))
            throw Abandoned()
        }
        let name = try NameParser(cursor: cursor).parseName("subject T -> \"dual.test\":8080")
        try cursor.expect(.colon, "`:` and a port", "\"dual.test\":8080")
        var address = AddressExpression(host: "", port: try parsePort(), span: cursor.span(from: first))
        address.hostName = name
        return address
    }

    /// Parses an address: `127.0.0.1:6379`, `[::1]:8080`, `localhost:(n + 1)`.
    func parseAddress(needsPort: Bool) throws(Abandoned) -> AddressExpression {
        if let address = try parseUnixAddress(needsPath: needsPort) { return address }
        if !needsPort, let address = try parseLinkAddress() { return address }
        let first = cursor.token
        let host = try parseHost("127.0.0.1:6379").text
        var port: Expression?
        if cursor.take(.colon) {
            port = try parsePort()
        } else if needsPort {
            let shown = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            throw cursor.expected("`:` and a port", "\(Escaped.text(shown.utf8)):6379")
        }
        return AddressExpression(host: host, port: port, span: cursor.span(from: first))
    }

    /// Parses the host of an address: `127.0.0.1`, `[::1]`, `localhost`.
    func parseHost(_ example: String) throws(Abandoned) -> (text: String, span: SourceSpan) {
        let first = cursor.token
        switch cursor.kind {
        case .bracketedHost:
            let host = cursor.bytes.text(Int(first.start) + 1..<Int(first.end) - 1)
            cursor.advance()
            guard HostSyntax.isIPv6(host) else { throw cursor.fail(.badHost(host), at: cursor.span(first)) }
            return (host, cursor.span(first))
        case .word, .number:
            cursor.advance()
            while !cursor.token.isSpaced, [.word, .number, .dot, .minus].contains(cursor.kind) { cursor.advance() }
            let place = cursor.span(from: first)
            let host = cursor.bytes.text(place.start..<place.end)
            guard HostSyntax.isNameOrIPv4(host) else { throw cursor.fail(.badHost(host), at: place) }
            return (host, place)
        default: throw cursor.expected("an address", example)
        }
    }

    /// Parses `unix "/run/app.sock"`, or `unix` alone for an actor that listens; returns `nil` if it finds anything
    /// else.
    private func parseUnixAddress(needsPath: Bool) throws(Abandoned) -> AddressExpression? {
        let first = cursor.token
        let next = cursor.token(ahead: 1)
        guard cursor.isWord("unix"), next.isSpaced || ![.colon, .dot].contains(next.kind) else { return nil }
        guard next.kind == .string || next.kind == .rawString else {
            if needsPath { return nil }
            cursor.advance()
            return AddressExpression(unix: .inCaseFolder, span: cursor.span(from: first))
        }
        cursor.advance()
        let path = try values.parseExpression("a path", "unix \"/run/app.sock\"")
        return AddressExpression(unix: .path(path), span: cursor.span(from: first))
    }

    /// Parses `link`, `link:8080`, `[link6]:8080` for an actor that listens; returns `nil` if it finds anything else.
    private func parseLinkAddress() throws(Abandoned) -> AddressExpression? {
        let first = cursor.token
        let isIPv6 = cursor.kind == .bracketedHost && cursor.text(first) == "[link6]"
        guard isIPv6 || cursor.isWord("link") && cursor.token(ahead: 1).kind != .dot else { return nil }
        cursor.advance()
        let port = cursor.take(.colon) ? try parsePort() : nil
        var address = AddressExpression(host: "", port: port, span: cursor.span(from: first))
        address.link = isIPv6 ? .ipv6 : .ipv4
        return address
    }

    private func parsePort() throws(Abandoned) -> Expression {
        let place = cursor.place
        let port: Expression
        switch cursor.kind {
        case .number, .word, .leftParenthesis:
            // A port that is a sum must be in parentheses. Without parentheses, an operator would belong to the rest of
            // the statement.
            if cursor.kind == .leftParenthesis || cursor.token(ahead: 1).kind == .leftParenthesis {
                port = try values.parseExpression()
            } else if cursor.kind == .number {
                port = Expression(.integer(try values.parseNumber()), span: place)
            } else {
                port = Expression(.variable(cursor.word), span: place)
                cursor.advance()
            }
        default: throw cursor.expected("a port", "127.0.0.1:6379")
        }
        if case .integer(let value) = port.kind, !(1...65_535).contains(value) {
            throw cursor.fail(
                .badAddress, "\(value) is not a valid port",
                hint: "use a port from 1 to 65535; a server without a port listens on a free port", at: place)
        }
        return port
    }

    func parseSocketOption() throws(Abandoned) -> SocketOption {
        let choices = ["receive-buffer", "send-buffer", "nodelay", "keepalive"]
        let option = try cursor.parseName("an option (\(choices.joined(separator: ", ")))")
        switch option.value {
        case "receive-buffer": return .receiveBuffer(try values.parseExpression("a size", "receive-buffer 4KiB"))
        case "send-buffer": return .sendBuffer(try values.parseExpression("a size", "send-buffer 4KiB"))
        case "nodelay": return .noDelay(try parseSwitch("nodelay off"))
        case "keepalive":
            if cursor.kind == .number { return .keepAliveEvery(try values.parseDuration("keepalive 5s")) }
            return .keepAlive(try parseSwitch("keepalive on"))
        default:
            throw cursor.fail(
                .unknownWord(option.value, what: "a socket option", choices: choices), at: option.span)
        }
    }

    private func parseSwitch(_ example: String) throws(Abandoned) -> Bool {
        if cursor.take(word: "on") { return true }
        if cursor.take(word: "off") { return false }
        throw cursor.expected("`on` or `off`", example)
    }
}

extension Diagnostic.Message {
    static func badHost(_ host: String) -> Self {
        Self(
            .badAddress, "\(Escaped.quoted(host)) is not a valid address",
            hint: host.utf8.allSatisfy(\.isDigit)
                ? "write the host and the port: `127.0.0.1:\(host)`"
                : "write an address as `127.0.0.1:6379`, `[::1]:8080` or `localhost:80`")
    }
}
