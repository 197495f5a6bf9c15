/// Writes and checks the client's request and the server's response of the WebSocket opening handshake (RFC 6455,
/// section 4).
package enum WebSocketHandshake {
    private static let suffix = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// Returns the value of `Sec-WebSocket-Accept` with which a server answers a client's `Sec-WebSocket-Key`.
    package static func accept(_ key: [UInt8]) -> String { Base64.encode(SHA1.digest(key + suffix)) }

    /// The bytes that end the head of a request or response.
    package static let end: [UInt8] = [13, 10, 13, 10]
    /// The maximum number of bytes in the head of a request or response.
    package static let longestHead = 16_384

    /// Returns a client's request. The path is written unchanged.
    package static func request(_ path: [UInt8], host: String, key: String) -> [UInt8] {
        Array("GET ".utf8) + path
            + Array(
                """
                 HTTP/1.1\r
                Host: \(host)\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: \(key)\r
                Sec-WebSocket-Version: 13\r
                \r

                """.utf8)
    }

    /// Returns a server's response.
    package static func answer(to key: [UInt8]) -> [UInt8] {
        Array(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(accept(key))\r
            \r

            """.utf8)
    }

    /// The reason why a request or response is not a valid handshake, such as `it has no Host`.
    package struct Problem: Error, Equatable, Sendable {
        package let text: String

        init(_ text: String) { self.text = text }
    }

    /// Reads a client's request (RFC 6455, section 4.2.1).
    ///
    /// - Parameter head: the head of the request, including the empty line.
    /// - Returns: the requested path, and the client's key.
    package static func readRequest(_ head: [UInt8]) throws(Problem) -> (path: [UInt8], key: [UInt8]) {
        let head = try Head(head)
        let words = head.startLine.split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, !words[1].isEmpty else {
            throw Problem("it begins with \(Escaped.phrase(head.startLine)), which is not a request line")
        }
        guard words[0].elementsEqual("GET".utf8) else { throw Problem("its method is not GET (RFC 6455, section 4.1)") }
        guard words[2].elementsEqual("HTTP/1.1".utf8) else {
            throw Problem("its version is not HTTP/1.1 (RFC 6455, section 4.1)")
        }
        _ = try head.only("Host")
        try head.requireUpgrade()
        let version = try head.only("Sec-WebSocket-Version")
        guard version.elementsEqual("13".utf8) else {
            throw Problem("its Sec-WebSocket-Version is \(Escaped.phrase(version)), not 13 (RFC 6455, section 4.1)")
        }
        let key = try head.only("Sec-WebSocket-Key")
        guard case .bytes(let decoded) = Base64.decode(key), decoded.count == 16 else {
            throw Problem(
                "its Sec-WebSocket-Key \(Escaped.phrase(key)) is not 16 bytes in base64 (RFC 6455, section "
                    + "4.1)")
        }
        return (Array(words[1]), key)
    }

    /// Checks a server's response to a request that offers no extensions and no subprotocols (RFC 6455, section 4.1).
    package static func readAnswer(_ head: [UInt8], to key: String) throws(Problem) {
        let head = try Head(head)
        guard head.startLine.starts(with: "HTTP/1.1 ".utf8) else {
            throw Problem("it begins with \(Escaped.phrase(head.startLine)), which is not a status line of HTTP/1.1")
        }
        let status = head.startLine.dropFirst(9).prefix { $0 != 32 }
        guard status.elementsEqual("101".utf8) else {
            throw Problem(
                "its status is \(Escaped.phrase(Array(head.startLine.dropFirst(9)))), not 101 (RFC 6455, section 4.1)")
        }
        try head.requireUpgrade()
        let received = try head.only("Sec-WebSocket-Accept")
        let expected = accept(Array(key.utf8))
        guard received.elementsEqual(expected.utf8) else {
            throw Problem(
                "its Sec-WebSocket-Accept is \(Escaped.phrase(received)), not \"\(expected)\" (RFC 6455, section 4.2.2)"
            )
        }
        for name in ["Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"] where head.values(of: name).first != nil {
            throw Problem("it has \(name), but the client did not offer any (RFC 6455, section 4.1)")
        }
    }

    /// The head of an HTTP request or response (RFC 9112).
    private struct Head {
        var startLine: [UInt8]
        private var fields: [(name: [UInt8], value: [UInt8])] = []

        init(_ bytes: [UInt8]) throws(Problem) {
            var lines = Self.lines(bytes.dropLast(4))
            startLine = lines.removeFirst()
            for line in lines {
                guard let colon = line.firstIndex(of: 58), colon > 0,
                    line[..<colon].allSatisfy({ $0 > 32 && $0 < 127 })
                else { throw Problem("\(Escaped.phrase(line)) is not a header field (RFC 9112, section 5)") }
                let value = line[(colon + 1)...].drop(while: Self.isBlank)
                fields.append(
                    (line[..<colon].map(Self.lowercased), Array(value.reversed().drop(while: Self.isBlank).reversed())))
            }
        }

        private static func lines(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
            var lines: [[UInt8]] = [[]]
            var position = bytes.startIndex
            while position < bytes.endIndex {
                if bytes[position] == 13, position + 1 < bytes.endIndex, bytes[position + 1] == 10 {
                    lines.append([])
                    position += 2
                } else {
                    lines[lines.count - 1].append(bytes[position])
                    position += 1
                }
            }
            return lines
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        private static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

        func values(of name: String) -> [[UInt8]] {
            let expected = name.utf8.map(Self.lowercased)
            return fields.filter { $0.name == expected }.map(\.value)
        }

        func only(_ name: String) throws(Problem) -> [UInt8] {
            let values = values(of: name)
            if values.count > 1 { throw Problem("it has \(values.count) \(name) fields") }
            guard let value = values.first else { throw Problem("it has no \(name)") }
            return value
        }

        /// Checks that `Upgrade` contains `websocket` and `Connection` contains `Upgrade`; the two fields may be lists,
        /// and case is ignored.
        func requireUpgrade() throws(Problem) {
            for (name, token) in [("Upgrade", "websocket"), ("Connection", "upgrade")] {
                let tokens = values(of: name).flatMap { $0.split(separator: 44) }.map { part in
                    part.filter { !Self.isBlank($0) }.map(Self.lowercased)
                }
                guard tokens.contains(where: { $0.elementsEqual(token.utf8) }) else {
                    throw Problem("it has no `\(name): \(token)`")
                }
            }
        }
    }
}
