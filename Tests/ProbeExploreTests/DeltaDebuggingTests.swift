import ProbeExplore
import Testing

struct DeltaDebuggingTests {
    @Test(arguments: [[3], [0, 9], [1, 2, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
    func minimalSubsetIsFound(needed: [Int]) async {
        let result = await DeltaDebugging.minimum(of: Array(0..<10)) { lists in
            lists.firstIndex { Set(needed).isSubset(of: $0) }
        }
        #expect(result == needed)
    }

    @Test func wholeListIsKeptIfNoPartFails() async {
        let result = await DeltaDebugging.minimum(of: [1, 2, 3]) { _ in nil }
        #expect(result == [1, 2, 3])
    }
}
