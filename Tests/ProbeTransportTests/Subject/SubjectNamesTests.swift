import Testing

@testable import ProbeTransport

/// Tests the names of a run's subjects, which must be unique.
struct SubjectNamesTests {
    @Test func numbersFollowTheCommandLine() {
        let names = SubjectNames()
        let places = (0..<3).map { _ in names.reserve() }
        names.introduce(places[2], as: "echo")
        #expect(names.name(at: places[0]) == nil)
        names.introduce(places[1], as: "other")
        names.introduce(places[0], as: "echo")
        #expect(places.map { names.name(at: $0) } == ["echo", "other", "echo-2"])
    }

    @Test func takenNumberedNameIsNotReused() {
        let names = SubjectNames()
        let given = ["echo", "echo", "echo-2", "echo"].map { names.reserve($0) }
        #expect(given == ["echo", "echo-2", "echo-2-2", "echo-3"])
    }

    @Test func firstIntroductionCounts() {
        let names = SubjectNames()
        let place = names.reserve()
        names.introduce(place, as: "echo")
        names.introduce(place, as: "other")
        #expect(names.name(at: place) == "echo")
    }
}
