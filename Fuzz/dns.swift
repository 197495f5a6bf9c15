import ProbeBase

@testable import ProbeNames

/// Fuzzes DNS queries to a resolver over UDP and TCP. The fuzzer is compiled with ProbeBase and the files of ProbeNames
/// that process messages.
///
/// The first byte selects the transport. For UDP, the remaining input is one message. For TCP, the remaining input is a
/// stream of messages, each preceded by its length, and the way in which the stream is cut must not affect the queries.
/// A response must repeat the question, fit the transport, and contain exactly as many records as its header states.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDNS(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    if first & 1 == 0 {
        ask([rest], by: .udp)
    } else {
        let whole = messages(of: rest, cutEvery: rest.count)
        demand(whole == messages(of: rest, cutEvery: Int(first >> 1) + 1), "a cut changed the messages")
        ask(whole, by: .tcp)
    }
    return 0
}

private func messages(of stream: [UInt8], cutEvery size: Int) -> [[UInt8]] {
    var decoder = FrameDecoder(framing: .u16, limit: nil)
    var messages: [[UInt8]] = []
    for start in stride(from: 0, to: stream.count, by: max(1, size)) {
        decoder.append(Array(stream[start..<min(start + max(1, size), stream.count)]))
        do throws(FrameError) {
            while let frame = try decoder.next() { messages.append(frame.payload) }
        } catch {
            fatalError("a length of two bytes can't be invalid: \(error)")
        }
    }
    return messages
}

private func ask(_ messages: [[UInt8]], by carrier: NameCarrier) {
    var zone = NameZone()
    let addresses = [
        IPAddress(v4: 0x0A00_0001), IPAddress(v6High: 0xFD77 << 48, low: 1), IPAddress(v4: 0x0A00_0002),
    ]
    zone.set("dual.test", to: .addresses(addresses, NameDelays(ipv6: .seconds(1), timeToLive: 60)), id: 1)
    zone.set("many.test", to: .addresses(Array(repeating: addresses[0], count: 5000), NameDelays()), id: 2)
    zone.set("a", to: .failure, id: 3)
    zone.set("b", to: .silence, id: 4)
    zone.set("c", to: .noSuchName, id: 5)
    let now = MonotonicTime(nanoseconds: 0)
    for message in messages {
        guard let reply = zone.receive(message.span, by: carrier, at: now) else { continue }
        demand(reply.due >= now, "an answer is due before its query")
        demand(reply.question.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a name is not escaped")
        if reply.text != nil { check(reply.bytes, to: message, by: carrier) }
    }
}

private func check(_ answer: [UInt8], to message: [UInt8], by carrier: NameCarrier) {
    demand(answer.count >= 12 && answer[2] & 0x80 != 0, "an answer has no response header")
    demand(answer[0..<2] == message[0..<2], "an answer has a different identifier")
    demand(answer.count <= (carrier == .udp ? 1232 : 65_535), "an answer is too large for its transport")
    let counts = (2..<6).map { Int(answer[2 * $0]) << 8 | Int(answer[2 * $0 + 1]) }
    var place = 12
    for _ in 0..<counts[0] {
        place = end(ofName: answer, at: place) + 4
        demand(place <= answer.count && answer[12..<place] == message[12..<place], "an answer has a different question")
    }
    for _ in 0..<counts[1] + counts[2] + counts[3] {
        place = end(ofName: answer, at: place) + 10
        demand(place <= answer.count, "an answer lacks a record")
        place += Int(answer[place - 2]) << 8 | Int(answer[place - 1])
    }
    demand(place == answer.count, "an answer has more or fewer bytes than its records")
}

private func end(ofName bytes: [UInt8], at start: Int) -> Int {
    var place = start
    while place < bytes.count {
        if bytes[place] == 0 { return place + 1 }
        if bytes[place] >= 0xC0 {
            demand(place + 1 < bytes.count, "a compression pointer is truncated")
            demand(Int(bytes[place] & 0x3F) << 8 | Int(bytes[place + 1]) < place, "a compression pointer is forward")
            return place + 2
        }
        place += 1 + Int(bytes[place])
    }
    fatalError("a name has no end")
}

private func demand(_ condition: Bool, _ problem: String) {
    if !condition { fatalError(problem) }
}
