import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeEngine

struct VariableStoreTests {
    private func bytes(_ count: Int) -> Value { .bytes([UInt8](repeating: 1, count: count)) }

    @Test func boundValueIsFound() {
        var store = VariableStore(["a": .integer(1)])
        #expect(store.bind("b", .integer(2), in: nil) == nil)
        #expect(store.value(of: "a", in: nil) == .integer(1))
        #expect(store.value(of: "b", in: nil) == .integer(2))
        #expect(store.value(of: "c", in: nil) == nil)
    }

    @Test func innermostLoopTakesPrecedence() {
        var store = VariableStore(["i": .integer(0)])
        let outer = LoopScope(outer: nil)
        outer.values["i"] = .integer(1)
        let inner = LoopScope(outer: outer)
        #expect(store.value(of: "i", in: inner) == .integer(1))
        inner.values["i"] = .integer(2)
        #expect(store.value(of: "i", in: inner) == .integer(2))
        #expect(store.value(of: "i", in: outer) == .integer(1))
        // Binding a variable sets it both in the loop that declares it and in the case.
        #expect(store.bind("i", .integer(3), in: inner) == nil)
        #expect(inner.values["i"] == .integer(3))
        #expect(outer.values["i"] == .integer(1))
        #expect(store.value(of: "i", in: nil) == .integer(3))
    }

    @Test func snapshotKeepsItsIteration() {
        let scope = LoopScope(outer: nil)
        scope.values["i"] = .integer(1)
        let snapshot = scope.snapshot()
        scope.values["i"] = .integer(2)
        #expect(snapshot.value(of: "i") == .integer(1))
    }

    @Test func sizeIsBounded() {
        var store = VariableStore(["a": bytes(600_000)], limit: 1 << 20)
        #expect(store.set("b", bytes(400_000)) == nil)
        let finding = store.set("c", bytes(200_000))
        #expect(finding?.verdict == .error)
        #expect(finding?.summary == "`c` brings the total size of the case's variables to more than 1 MiB")
    }

    @Test func replacedValueCountsOnce() {
        var store = VariableStore(limit: 1 << 20)
        for _ in 0..<10 { #expect(store.set("a", bytes(600_000)) == nil) }
    }
}
