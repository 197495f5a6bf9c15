import ProbeBase

/// Fuzzes a WebSocket stream: the opening handshake and the frames. The fuzzer is compiled with ProbeBase only.
///
/// The first byte selects what precedes the frames: nothing, a request or a response. The number of frames must be the
/// same whether only their headers or entire frames are read, and a frame that was read must be encoded to the same
/// bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let heads = ["", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 ", "GET "]
    let stream = Array(heads[Int(first) % heads.count].utf8) + input.dropFirst()
    let whole = WebSocketFrames(stream.span)
    read(stream, whole)
    // A prefix of the stream must not contain more frames than the whole stream.
    for cut in [stream.count / 3, stream.count / 2, max(0, stream.count - 1)] {
        precondition(WebSocketFrames(Array(stream[..<cut]).span).count <= whole.count, "a frame was lost")
    }
    let head = Array(input.dropFirst()) + WebSocketHandshake.end
    _ = try? WebSocketHandshake.readRequest(head)
    _ = try? WebSocketHandshake.readAnswer(head, to: "dGhlIHNhbXBsZSBub25jZQ==")
    return 0
}

private func read(_ stream: [UInt8], _ whole: WebSocketFrames) {
    guard case .frames(var offset) = WebSocketStart(stream.span) else {
        precondition(whole.count == 0)
        return
    }
    precondition(offset <= stream.count)
    var count = 0
    while offset < stream.count {
        guard
            case .frame(let frame, let length) = WebSocketFrame.scan(
                stream.span.extracting(offset..<stream.count), limit: 1 << 20)
        else { break }
        precondition(length > 0 && offset + length <= stream.count)
        precondition(frame.encoded() == Array(stream[offset..<offset + length]), "a frame was read incorrectly")
        _ = frame.closeCode
        count += 1
        offset += length
    }
    precondition(count == whole.count, "frames were counted incorrectly")
}
