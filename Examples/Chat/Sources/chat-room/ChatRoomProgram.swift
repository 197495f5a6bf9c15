import ChatRoom

/// `chat-room 4000`: the room on that port of 127.0.0.1.
@main struct ChatRoomProgram {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]) else {
            print("usage: chat-room PORT")
            return
        }
        let server = try await ChatServer(port: Int(port))
        print("listens on 127.0.0.1:\(server.port)")
        try await server.wait()
    }
}
