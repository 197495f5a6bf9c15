import ProbeEvents
import Testing

@Suite struct ShareTests {
    @Test func indexAndTotalAreParsed() throws {
        let share = try Share("3/8")
        #expect(share.index == 3)
        #expect(share.total == 8)
        #expect("\(share)" == "3/8")
        #expect(try Share("03/08") == share)
        #expect(!share.isWhole)
        #expect(try Share("1/1").isWhole)
    }

    @Test(arguments: [
        "", "3", "/", "3/", "/8", "3/8/1", "-1/8", "+1/8", " 1/8", "1 / 8", "a/8", "1/b", "１/8",
        "9999999999999999999/8",
    ])
    func malformedSharesAreRefused(_ text: String) {
        #expect(throws: Share.Problem.self) { try Share(text) }
    }

    @Test(arguments: ["0/8", "9/8", "1/0", "0/0", "1/1000001"])
    func numbersOutOfRangeAreRefused(_ text: String) {
        #expect(throws: Share.Problem.self) { try Share(text) }
    }

    @Test func problemIsExplained() {
        let problem = #expect(throws: Share.Problem.self) { try Share("9/8") }
        #expect(problem?.description == "the index 9 must be 1 to 8")
    }
}
