import Testing

@testable import ProbeSystem

struct ChangeHandlerTests {
    @Test func changesDuringTheHandlerAreHandledAfterIt() {
        let changes = ChangeHandler()
        var (depth, deepest, left, calls) = (0, 0, 100_000, 0)
        changes.handler = {
            depth += 1
            deepest = max(deepest, depth)
            calls += 1
            if left > 0 {
                left -= 1
                changes.notify()
                changes.notify()
            }
            depth -= 1
        }
        changes.notify()
        #expect(deepest == 1)
        // The two changes that occur while the handler runs are handled by a single call.
        #expect(calls == 100_001)
    }

    @Test func replacedHandlerIsNotCalledAgain() {
        let changes = ChangeHandler()
        var calls = 0
        changes.handler = {
            calls += 1
            changes.handler = {}
            changes.notify()
        }
        changes.notify()
        changes.notify()
        #expect(calls == 1)
    }
}
