import Testing

@testable import ProbeTransport

@Suite struct SendQueueTests {
    private func front(_ queue: SendQueue, limit: Int = .max) -> [UInt8] {
        queue.withFront(limit: limit) { Array($0) }
    }

    @Test func orderIsKeptAcrossPartialWrites() {
        var queue = SendQueue()
        queue.append([1, 2, 3])
        queue.append([4])
        #expect(front(queue, limit: 2) == [1, 2])
        queue.consume(2)
        queue.append([5])
        #expect(front(queue) == [3, 4, 5])
        queue.consume(3)
        #expect(queue.isEmpty)
        #expect(front(queue).isEmpty)
    }

    @Test func emptyFrameWaitsToBeConsumed() {
        var queue = SendQueue()
        queue.append([])
        #expect(!queue.isEmpty)
        #expect(queue.count == 0)
        queue.consume(0)
        #expect(queue.isEmpty)
        queue.append([1])
        queue.append([])
        queue.consume(1)
        #expect(queue.isEmpty)
    }

    @Test(arguments: [-1, 0, 3, 4, .max])
    func consumingTooMuchIsHarmless(_ count: Int) {
        var queue = SendQueue()
        queue.append([1, 2, 3])
        queue.consume(count)
        #expect(queue.count == (count < 3 ? 3 : 0))
    }

    @Test func longRunsAreSentWhole() {
        var queue = SendQueue()
        var sent: [UInt8] = []
        var received: [UInt8] = []
        for round in 0..<200 {
            let frame = [UInt8](repeating: UInt8(round), count: 3001)
            queue.append(frame)
            sent += frame
            let part = front(queue, limit: 2500)
            received += part
            queue.consume(part.count)
        }
        received += front(queue)
        #expect(received == sent)
        queue.removeAll()
        #expect(queue.isEmpty)
    }
}
