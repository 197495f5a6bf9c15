import Testing

@testable import ProbeCapture

@Suite struct FenceLedgerTests {
    private let second: Int64 = 1_000_000_000

    @Test func ringIsNotFilledBeforeTheMarkerIsSent() {
        var ledger = FenceLedger<String>()
        let fence = ledger.register(deadline: second, completion: "a")
        let early = ledger.due(now: 0)
        #expect(!early.fill)
        #expect(early.next == second)
        ledger.arm(fence, now: 10)
        let due = ledger.due(now: 10)
        #expect(due.fill)
        #expect(due.resend == [])
    }

    @Test func oneFillServesAllPendingFences() {
        var ledger = FenceLedger<String>()
        for name in ["a", "b", "c"] { ledger.arm(ledger.register(deadline: second, completion: name), now: 0) }
        #expect(ledger.due(now: 0).fill)
        #expect(!ledger.due(now: 1).fill)
    }

    @Test func unseenMarkerIsResentWithBackoff() {
        var ledger = FenceLedger<String>()
        let fence = ledger.register(deadline: second, completion: "a")
        ledger.arm(fence, now: 0)
        var now: Int64 = 0
        var waits: [Int64] = []
        _ = ledger.due(now: now)
        while waits.count < 8, let next = ledger.due(now: now).next {
            #expect(!ledger.due(now: next - 1).fill)
            waits.append((next - now) / 1_000_000)
            now = next
            let due = ledger.due(now: now)
            #expect(due.resend == [fence])
            #expect(due.fill)
        }
        #expect(waits == [2, 4, 8, 16, 32, 64, 64, 64])
    }

    @Test func eachFenceCompletesOnce() {
        var ledger = FenceLedger<String>()
        let first = ledger.register(deadline: 5, completion: "a")
        let second = ledger.register(deadline: 7, completion: "b")
        #expect(first != second)
        #expect(ledger.seen(second) == "b")
        #expect(ledger.seen(second) == nil)
        #expect(ledger.seen(99) == nil)
        let due = ledger.due(now: 5)
        #expect(due.expired == ["a"])
        #expect(due.next == nil)
        #expect(ledger.seen(first) == nil)
        #expect(ledger.removeAll() == [])
    }

    @Test func removeAllKeepsOrder() {
        var ledger = FenceLedger<Int>()
        for number in 0..<20 { _ = ledger.register(deadline: 1, completion: number) }
        #expect(ledger.removeAll() == Array(0..<20))
        #expect(ledger.removeAll() == [])
    }
}
