import Testing

@testable import ProbeReport

@Suite struct DateTextTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_300_200, "2026-11-21T22:30:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (Int64.max, "9999-12-31T23:59:59Z"), (Int64.min, "0000-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func secondsBecomeTheCivilDate(seconds: Int64, text: String) {
        #expect(DateText.iso8601(seconds) == text)
    }
}
