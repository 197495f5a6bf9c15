import ProbeEngine
import Testing

struct RunOrderTests {
    @Test func runBeginsWithItsDescriptors() {
        for step in RunOrder.Step.allCases { #expect(RunOrder().allows(step) == (step == .descriptors)) }
    }

    @Test(arguments: RunOrder.Step.allCases)
    func stepsCannotPrecedeTheirDependencies(_ step: RunOrder.Step) {
        var order = RunOrder()
        for earlier in RunOrder.Step.allCases where earlier <= step { order.begin(earlier) }
        for other in RunOrder.Step.allCases { #expect(order.allows(other) == (other > step)) }
    }

    @Test func namespaceThreadsAndCasesAreOptional() {
        var order = RunOrder()
        for step in [RunOrder.Step.descriptors, .signals, .resources, .reactor, .work, .end] {
            #expect(order.allows(step))
            order.begin(step)
        }
    }
}
