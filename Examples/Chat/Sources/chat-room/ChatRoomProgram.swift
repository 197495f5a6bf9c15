import ChatRoom

/// Runs a room on a port of 127.0.0.1, as in `chat-room 4000`.
@main struct ChatRoomProgram {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]) else {
            print("usage: chat-room PORT")
            return
        }
        let server = try await ChatServer(port: Int(port))
        print("listening on 127.0.0.1:\(server.port)")
        try await server.wait()
    }
}
