import ProbeEvents
import Testing

/// Programs with connections: `expect listening`, and the names that scripts use for a program's listeners and
/// connections.
struct ProcessServerTests {
    private static let echoServer = """
        import socket,sys
        s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)
        s.bind(("127.0.0.1",int(sys.argv[1]))); s.listen()
        while True:
            c,_=s.accept()
            c.sendall(c.recv(100)); c.close()
        """

    /// Returns a Python program as a single-quoted word of a `process` line. The text is encoded in base64, because the
    /// line can't contain line breaks.
    private static func word(_ text: String) -> String {
        "'import base64;exec(base64.b64decode(\"\(base64(text))\"))'"
    }

    private static func base64(_ text: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8)
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let chunk = bytes[start..<min(start + 3, bytes.count)]
            var value = 0
            for index in 0..<3 { value = value << 8 | (index < chunk.count ? Int(chunk[start + index]) : 0) }
            for index in 0..<4 { result.append(index <= chunk.count ? digits[value >> (18 - 6 * index) & 63] : "=") }
        }
        return result
    }

    private static let proxy = """
        import socket,sys
        s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)
        s.bind(("127.0.0.1",int(sys.argv[1]))); s.listen()
        c,_=s.accept()
        u=socket.create_connection(("127.0.0.1",int(sys.argv[2])))
        u.sendall(c.recv(100).upper()); c.sendall(u.recv(100).lower())
        u.close(); c.recv(1); c.close(); sys.stdin.read()
        """

    @Test(arguments: [
        Scene(
            "a server that listens", .passed, needsCapture: true,
            """
            require command python3
            process P = python3 -c \(word(echoServer)) ${P.port}
            client C -> P
            P start
            P expect listening within 20s
            C connect
            C send "hi"
            C expect "hi"
            C expect eof
            C close
            wire C -> P bytes "hi"
            wire P -> C bytes "hi"
            wire fin from P
            P stop
            """),
        Scene(
            "connect before the program listens", .failed, says: ["P has not been started"],
            """
            process P = sh -c "echo ${P.port}"
            client C -> P
            C connect #!
            P start
            P expect exit
            """),
        Scene(
            "a proxy has several connections, named by their peers", .passed, needsCapture: true,
            """
            require command python3
            server S
            process P = python3 -c \(word(proxy)) ${P.port} ${S.port}
            client C -> P
            P start
            P expect listening within 20s
            C connect
            C send "hi"
            S accept
            S expect "HI"
            S send "YO"
            C expect "yo"
            S expect eof
            S close
            wire P -> S bytes "HI"
            wire P -> C bytes "yo"
            wire C -> P bytes "hi"
            wire fin from P to S
            C close
            """),
        Scene(
            "a proxy's name alone is not one connection", .error, says: ["2 connections of P"], needsCapture: true,
            """
            require command python3
            server S
            process P = python3 -c \(word(proxy)) ${P.port} ${S.port}
            client C -> P
            P start
            P expect listening within 20s
            C connect
            C send "hi"
            S accept
            S expect "HI"
            S send "YO"
            C expect "yo"
            S expect eof
            S close
            wire fin from P #!
            C close
            """),
    ])
    func programServersHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
