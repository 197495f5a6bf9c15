import ProbeEvents
import ProbeExplore
import Testing

struct SearchOrderTests {
    private static func site(_ step: Int, _ text: String, budget: Duration = .milliseconds(500), next: Int? = nil)
        -> SendSite
    {
        SendSite(step: step, actor: "C", bytes: Array(text.utf8), pauseBudget: budget, next: next)
    }

    private static func first(_ count: Int, _ order: SearchOrder) -> [Variation] {
        var order = order
        return (0..<count).compactMap { _ in order.next() }
    }

    @Test func cutsInsideTerminatorsComeFirst() {
        let order = SearchOrder(sites: [Self.site(1, "one\r\n"), Self.site(2, "two!\r\n")], seed: 0)
        #expect(
            Self.first(2, order) == [
                Variation(send: 1, cutAt: [4], pause: .milliseconds(1)),
                Variation(send: 2, cutAt: [5], pause: .milliseconds(1)),
            ])
    }

    /// The shards together try what is tried without shards, whatever variations each of them has saved.
    @Test func shardsComplementEachOther() throws {
        let sites = [Self.site(1, "one\r\n"), Self.site(2, "two!\r\n")]
        let all = Set(Self.first(200, SearchOrder(sites: sites, seed: 3)))
        var together: Set<Variation> = []
        for index in 1...3 {
            let saved = Variation(send: 1, cutAt: [index], pause: .milliseconds(1))
            let order = SearchOrder(
                sites: sites, first: [saved], share: try Share(index: index, total: 3), seed: 3)
            let variations = Self.first(200, order)
            #expect(variations.first == saved)
            #expect(Set(variations).count == variations.count)
            together.formUnion(variations)
        }
        #expect(together.isSuperset(of: all))
    }

    @Test func variationsAreWrittenAndRead() throws {
        var sites = [Self.site(4, "one\r\n", next: 7), Self.site(7, "two\r\n")]
        sites[1].mayEnd = true
        let options: [Change] = [
            .option(actor: "C", .receiveBuffer), .slowReading(actor: "C", step: 2, bytes: 1),
        ]
        let text = VariationText(sites: sites, options: options)
        for variation in [
            Variation(send: 4, cutAt: [1, 4], pause: .milliseconds(30)), Variation([.join(first: 4, second: 7)]),
            Variation([.earlyEnd(send: 7)]), Variation([.fin(send: 7, end: 7)]), Variation(options),
            Variation([.cut(send: 7, at: 2), .option(actor: "C", .receiveBuffer)]),
        ] {
            let written = try #require(text.text(of: variation))
            #expect(text.variation(written) == variation, "\(written)")
        }
        #expect(text.text(of: Variation(send: 4, cutAt: [2], pause: .milliseconds(1))) == "C 1 cut at 2 every 1ms\n")
    }

    @Test(arguments: [
        "", "\n", "C 3 cut at 1", "C 0 cut at 1", "C -9223372036854775808 cut at 1", "D 1 cut at 1", "C 1 cut at 0",
        "C 1 cut at 5", "C 1 cut at", "C 1 cut at 1 every 1s", "C 1 cut at 1 every 9223372036854775807ms",
        "C 1 joined to -9223372036854775808", "C 2 joined to 1", "C 1 in records of 2B", "C 1 with fin",
        "C 1 then half-close", "C reads 9B per ms", "C 1 cut at 1\nnonsense", "C 1 cut at 1, 2,3",
    ])
    func impossibleVariationsAreIgnored(text: String) {
        let sites = [Self.site(4, "one\r\n", next: 7), Self.site(7, "two\r\n")]
        #expect(VariationText(sites: sites, options: []).variation(text) == nil)
    }

    @Test func everySingleCutIsTried() {
        let sites = [Self.site(1, "one\r\n"), Self.site(2, "eleven bytes\r\n")]
        let order = SearchOrder(sites: sites, seed: 0)
        #expect(order.singleCuts == 4 + 13)
        let singles = Self.first(400, order).filter { $0.changes.count == 1 }.flatMap(\.changes)
        #expect(Set(singles).count == order.singleCuts)
    }

    @Test func neighboursAreJoinedInPairsAndRuns() {
        let sites = [Self.site(1, "a", next: 2), Self.site(2, "b", next: 3), Self.site(3, "c")]
        let joins = Self.first(10, SearchOrder(sites: sites, seed: 0))
        #expect(
            joins == [
                Variation([.join(first: 1, second: 2)]), Variation([.join(first: 2, second: 3)]),
                Variation([.join(first: 1, second: 2), .join(first: 2, second: 3)]),
            ])
    }

    @Test func finIsCarriedByTheLastSendAndItsRun() {
        var last = Self.site(2, "b")
        last.end = 9
        let joins = Self.first(10, SearchOrder(sites: [Self.site(1, "a", next: 2), last], seed: 0))
        let join = Change.join(first: 1, second: 2)
        let fin = Change.fin(send: 2, end: 9)
        #expect(joins == [Variation([join]), Variation([fin]), Variation([join, fin])])
    }

    @Test func recordSizesAreTriedOnlyWithTLS() {
        var sealed = Self.site(1, "one\r\n")
        (sealed.isSealed, sealed.length) = (true, 27)
        let order = SearchOrder(sites: [sealed, Self.site(2, "two\r\n")], seed: 0)
        #expect(order.singleCuts == 26 + 4)
        #expect(Self.first(1, order) == [Variation(send: 1, cutAt: [5], pause: .milliseconds(1))])
        let sizes = Self.first(300, order).flatMap(\.changes).compactMap { change -> Int? in
            if case .records(let send, let size) = change, send == 1 { size } else { nil }
        }
        #expect(sizes.sorted() == [1, 2, 3, 4])
        #expect(sizes.first == 4)
    }

    @Test func pausesStayWithinTheirBudget() {
        let order = SearchOrder(sites: [Self.site(1, "abcdef\r\n", budget: .milliseconds(3))], seed: 0)
        for variation in Self.first(600, order) {
            guard let pause = variation.pauses[1] else { continue }
            #expect(pause * variation.offsets(of: 1).count <= .milliseconds(3))
        }
    }

    @Test func variationsAreUniqueAndFinite() {
        let all = Self.first(5000, SearchOrder(sites: [Self.site(1, "abc")], seed: 1))
        #expect(Set(all).count == all.count)
        #expect(all.count < 5000)
    }

    @Test func sameSeedGivesTheSameOrder() {
        let sites = [Self.site(1, "a longer line of text\r\n"), Self.site(2, "another one\r\n")]
        let (a, b, c) = (7, 7, 8)
        let orders = [a, b, c].map { Self.first(2000, SearchOrder(sites: sites, seed: $0)) }
        #expect(orders[0] == orders[1])
        #expect(orders[0] != orders[2])
    }

    @Test func smallBuffersAreTriedWithSlowReading() {
        let slow = Change.slowReading(actor: "C", step: 3, bytes: 1)
        let order = SearchOrder(
            sites: [], options: [.option(actor: "C", .receiveBuffer)], slowReading: [slow], seed: 0)
        #expect(
            Self.first(10, order) == [
                Variation([.option(actor: "C", .receiveBuffer)]),
                Variation([.option(actor: "C", .receiveBuffer), slow]), Variation([slow]),
            ])
    }
}
