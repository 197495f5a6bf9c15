import ProbeBase
import ProbeCrowd
import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeEngine

/// Tests the members of a crowd that belong to a share, and the counts that a step requires of that share.
struct CrowdShareTests {
    private static func shares(_ total: Int) throws -> [CrowdShare] {
        try (1...total).map { CrowdShare(try Share(index: $0, total: total)) }
    }

    @Test(arguments: [(1, 1), (8, 8), (10, 3), (10_000, 7), (1_000_000, 999), (Int.max, 1000), (0, 4), (2, 5)])
    func partsAddUpToTheWhole(_ number: Int, _ total: Int) throws {
        let parts = try Self.shares(total).map { $0.part(of: number) }
        #expect(parts.reduce(0, +) == number)
        #expect(parts == parts.sorted(by: >))
        #expect(try #require(parts.first) - #require(parts.last) <= 1)
    }

    /// Members are assigned to the shares in turn: `part(of: n)` is the number of members of the share among the first
    /// `n` members.
    @Test func membersAreDealtOutInTurn() throws {
        for number in 0..<40 {
            for share in try Self.shares(6) {
                let members = (0..<number).filter { $0 % 6 == share.share.index - 1 }
                #expect(share.part(of: number) == members.count)
            }
        }
    }

    /// If a step passes in every share, it passes for the whole crowd, however the counts are distributed among the
    /// shares.
    @Test func stepThatHoldsInEveryShareHoldsForTheWhole() throws {
        let shares = try Self.shares(3)
        for comparison in Comparison.allCases {
            for number in 0...7 {
                let parts = shares.map { $0.part(of: comparison, number) }
                guard parts.allSatisfy({ $0 != nil }) else {
                    #expect(comparison == .notEqual && number > 0)
                    continue
                }
                for counts in Self.spreads
                where zip(parts, counts).allSatisfy({ part, count in
                    part?.comparison.holds(count, part?.number ?? 0) ?? false
                }) {
                    #expect(
                        comparison.holds(counts.reduce(0, +), number), "\(counts) \(comparison.rawValue) \(number)")
                }
            }
        }
    }

    /// If the counts are distributed as evenly as possible, a step that passes for the whole crowd passes in every
    /// share.
    @Test(arguments: [Comparison.equal, .less, .lessOrEqual, .greater, .greaterOrEqual])
    func evenDistributionHoldsInEveryShare(_ comparison: Comparison) throws {
        let shares = try Self.shares(3)
        for number in 0...9 {
            for whole in 0...9 where comparison.holds(whole, number) {
                for share in shares {
                    let part = try #require(share.part(of: comparison, number))
                    #expect(part.comparison.holds(share.part(of: whole), part.number))
                }
            }
        }
    }

    private static let spreads: [[Int]] = (0..<216).map { [$0 % 6, $0 / 6 % 6, $0 / 36] }

    @Test func sharesPreserveStartTimes() throws {
        let shares = try Self.shares(4)
        var starts: [Duration] = []
        for share in shares {
            for member in 0..<share.part(of: 10) {
                starts.append(share.delay(atRate: 50) + .seconds(Double(member) / share.part(ofRate: 50)))
            }
        }
        #expect(starts.sorted().map { ($0.nanoseconds + 500_000) / 1_000_000 } == (0..<10).map { $0 * 20 })
    }
}
