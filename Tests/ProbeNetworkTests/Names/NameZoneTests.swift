import ProbeBase
import Testing

@testable import ProbeNames

/// Tests the answers of a link's resolver, and the times at which they are sent.
struct NameZoneTests {
    private static let now = MonotonicTime(nanoseconds: 5_000_000_000)
    private static let dead = IPAddress(v4: 0x0a4d_0009)
    private static let four = IPAddress(v4: 0x0a4d_0001)
    private static let six = IPAddress(v6High: 0xfd77_0000_0000_0000, low: 1)

    private func zone(_ meaning: NameMeaning, of name: String = "dual.test") -> NameZone {
        var zone = NameZone()
        zone.set(name, to: meaning, id: 0)
        return zone
    }

    private var dual: NameZone {
        zone(
            .addresses(
                [Self.dead, Self.six, Self.four],
                NameDelays(ipv4: .milliseconds(20), ipv6: .milliseconds(300), timeToLive: 70_000)))
    }

    private func reply(
        _ message: [UInt8], _ zone: inout NameZone, by carrier: NameCarrier = .udp
    ) throws -> (NameReply, ReadAnswer) {
        let received = zone.receive(message.span, by: carrier, at: Self.now)
        let reply = try #require(received)
        return (reply, try #require(ReadAnswer(reply.bytes), "\(reply.bytes)"))
    }

    @Test func addressesKeepTheirOrderAndTTL() throws {
        var zone = dual
        let (reply, answer) = try reply(NameMessages.question("dual.test"), &zone)
        #expect(answer.id == 0x1234 && answer.flags == 0x8180)
        #expect(
            answer.answers
                == [Self.dead, Self.four].map {
                    .init(name: "dual.test", type: 1, kind: 1, timeToLive: 70_000, data: $0.bytes)
                })
        #expect(answer.authorities.isEmpty && answer.additions.isEmpty)
        #expect(reply.due == Self.now + .milliseconds(20))
        #expect(reply.question == "dual.test A" && reply.text == "10.77.0.9, 10.77.0.1")
        let (later, six) = try self.reply(NameMessages.question("dual.test", type: 28), &zone)
        #expect(six.answers == [.init(name: "dual.test", type: 28, kind: 1, timeToLive: 70_000, data: Self.six.bytes)])
        #expect(later.due == Self.now + .milliseconds(300) && later.text == "fd77::1")
    }

    /// The letter case of a name is ignored in lookups but preserved in the answer (RFC 4343), because some resolvers
    /// check that it is unchanged.
    @Test func questionIsEchoedWithItsCase() throws {
        var zone = dual
        let (reply, answer) = try reply(NameMessages.question("DuAl.TEST", flags: 0x0010), &zone)
        #expect(answer.question == NameMessages.encoded("DuAl.TEST") + [0, 1, 0, 1])
        #expect(answer.flags == 0x8090 && answer.answers.count == 2)
        #expect(answer.answers.allSatisfy { $0.name == "DuAl.TEST" })
        #expect(reply.question == "DuAl.TEST A")
    }

    /// The absence of a record is cached for as long as the record itself would be (RFC 2308).
    @Test(arguments: [(UInt16(15), "MX"), (12, "PTR"), (255, "ANY"), (65, "HTTPS"), (4242, "TYPE4242")])
    func otherRecordTypesHaveNoData(_ type: UInt16, _ text: String) throws {
        var zone = dual
        let (reply, answer) = try reply(NameMessages.question("dual.test", type: type), &zone)
        #expect(answer.code == 0 && answer.answers.isEmpty && reply.due == Self.now)
        let authority = try #require(answer.authorities.first)
        #expect(authority.name == "test" && authority.type == 6 && authority.timeToLive == 70_000)
        #expect(Array(authority.data.suffix(4)) == [0, 1, 0x11, 0x70])
        #expect(reply.question == "dual.test \(text)" && reply.text == "no address")
    }

    @Test func missingFamilyHasNoData() throws {
        var zone = zone(.addresses([Self.four], NameDelays(ipv6: .milliseconds(300))))
        let (reply, answer) = try reply(NameMessages.question("dual.test", type: 28), &zone)
        #expect(answer.code == 0 && answer.answers.isEmpty && answer.authorities.count == 1)
        #expect(reply.due == Self.now + .milliseconds(300))
    }

    @Test(arguments: ["gone.test", "other.test", "a.dual.test", "test", "9.0.77.10.in-addr.arpa"])
    func unknownNamesAreNXDOMAIN(_ name: String) throws {
        var zone = dual
        zone.set("gone.test", to: .noSuchName, id: 1)
        let (_, answer) = try reply(NameMessages.question(name), &zone)
        #expect(answer.code == 3 && answer.answers.isEmpty)
        #expect(answer.authorities.map(\.type) == [6] && answer.authorities.map(\.timeToLive) == [0])
        #expect(answer.authorities.first?.name == name.split(separator: ".").last.map(String.init))
    }

    @Test func rootIsAnswered() throws {
        var zone = dual
        let (reply, answer) = try reply(NameMessages.question(""), &zone)
        #expect(answer.code == 3 && answer.authorities.map(\.name) == [""] && reply.question == ". A")
    }

    @Test func failureAndSilenceAreProduced() throws {
        var zone = zone(.failure)
        let (_, answer) = try reply(NameMessages.question("dual.test"), &zone)
        #expect(answer.code == 2 && answer.answers.isEmpty && answer.authorities.isEmpty)
        zone.set("dual.test", to: .silence, id: 1)
        let silent = zone.receive(NameMessages.question("dual.test").span, by: .udp, at: Self.now)
        #expect(silent?.text == nil && silent?.bytes.isEmpty == true && silent?.question == "dual.test A")
    }

    /// A later `name` statement about a name replaces the earlier statement. The queries that each statement has
    /// answered are counted separately.
    @Test func queriesAreCountedPerMeaning() throws {
        var zone = dual
        zone.set("gone.test", to: .noSuchName, id: 1)
        #expect(zone.unmet == [0, 1])
        #expect(zone.shortfall(of: 0) == "no program asked for the name")
        _ = try reply(NameMessages.question("DUAL.test", type: 28), &zone)
        #expect(zone.unmet == [0, 1], "its IPv4 address was not queried")
        #expect(zone.shortfall(of: 0) == "programs asked for AAAA records of the name, but never for A")
        _ = try reply(NameMessages.question("dual.test"), &zone)
        #expect(zone.unmet == [1])
        zone.set("Dual.Test", to: .addresses([Self.six], NameDelays()), id: 2)
        #expect(zone.unmet == [1, 2])
        let (_, answer) = try reply(NameMessages.question("dual.test"), &zone)
        #expect(answer.answers.isEmpty && zone.unmet == [1, 2], "it has no IPv4 address")
        _ = try reply(NameMessages.question("dual.test", type: 28), &zone)
        #expect(zone.unmet == [1])
        _ = try reply(NameMessages.question("else.test"), &zone)
        #expect(zone.unmet == [1])
    }

    /// A `name` statement has taken effect once every type of record that the statement provides or delays has been
    /// queried.
    @Test(arguments: [
        (NameMeaning.addresses([NameZoneTests.four], NameDelays()), [UInt16(1)]),
        (.addresses([NameZoneTests.six], NameDelays()), [28]),
        (.addresses([NameZoneTests.six, NameZoneTests.four], NameDelays()), [1, 28]),
        (.addresses([NameZoneTests.four], NameDelays(ipv6: .seconds(1))), [1, 28]),
    ])
    func meaningIsMetByItsRecordTypes(_ meaning: NameMeaning, _ types: [UInt16]) throws {
        for left in types {
            var zone = zone(meaning)
            for type in [1, 28, 15] as [UInt16] where type != left {
                _ = zone.receive(NameMessages.question("dual.test", type: type).span, by: .udp, at: Self.now)
            }
            #expect(zone.unmet == [0], "without \(left)")
            _ = zone.receive(NameMessages.question("dual.test", type: left).span, by: .udp, at: Self.now)
            #expect(zone.unmet == [])
        }
    }

    @Test(arguments: [NameMeaning.noSuchName, .failure, .silence], [1, 28, 15] as [UInt16])
    func errorMeaningIsMetByAnyQuery(_ meaning: NameMeaning, _ type: UInt16) {
        var zone = zone(meaning)
        #expect(zone.unmet == [0])
        _ = zone.receive(NameMessages.question("dual.test", type: type).span, by: .udp, at: Self.now)
        #expect(zone.unmet == [])
    }

    // MARK: Lengths

    /// Without an OPT record, a UDP answer is limited to 512 bytes; with an OPT record, to the size that it specifies.
    /// An answer over TCP is never truncated.
    @Test(arguments: [
        (NameCarrier.udp, UInt16?.none, 30, false), (.udp, .none, 31, true), (.udp, 100, 29, false),
        (.udp, 512, 30, true), (.udp, 600, 35, false), (.udp, 600, 36, true), (.udp, 65_535, 74, false),
        (.udp, 65_535, 75, true),
        (.tcp, .none, 400, false),
    ])
    func longAnswersAreTruncated(_ carrier: NameCarrier, _ size: UInt16?, _ count: Int, _ isCut: Bool) throws {
        let addresses = (0..<count).map { IPAddress(v4: 0x0a4d_0100 + UInt32($0)) }
        var zone = zone(.addresses(addresses, NameDelays()))
        let message = NameMessages.question(
            "dual.test", counts: [1, 0, 0, size == nil ? 0 : 1], tail: size.map { NameMessages.option(size: $0) } ?? [])
        let (reply, answer) = try reply(message, &zone, by: carrier)
        #expect(answer.isCut == isCut && answer.answers.count == (isCut ? 0 : count), "\(reply.bytes.count) bytes")
        #expect(answer.additions.map(\.type) == (size == nil ? [] : [41]))
        #expect(answer.additions.map(\.kind) == (size == nil ? [] : [1232]))
    }

    // MARK: Invalid queries

    private static let refused: [([UInt8], UInt16)] = {
        func badName(_ name: [UInt8]) -> [UInt8] { Array(NameMessages.question("").prefix(12)) + name + [0, 1, 0, 1] }
        let option = NameMessages.option(size: 600)
        let notRoot: [UInt8] = [1, 97] + option
        let longLabel: [UInt8] = [0x40] + [UInt8](repeating: 97, count: 64) + [0]
        return [
            // The following queries contain, in this order: an operation other than a query, no question, two
            // questions, a compression pointer, a label that is too long, a name that is too long, and a missing class.
            (NameMessages.question("dual.test", flags: 0x2800), 4),
            (NameMessages.question("dual.test", counts: [0, 0, 0, 0]), 1),
            (NameMessages.question("dual.test", counts: [2, 0, 0, 0]), 1),
            (badName([0xc0, 0x0c]), 1), (badName(longLabel), 1),
            (NameMessages.question(String(repeating: "aa.", count: 85)), 1),
            (Array(NameMessages.question("dual.test").dropLast()), 1),
            // The following queries contain, in this order: a missing record, an OPT record whose name is not the root,
            // two OPT records, and an OPT record in the answer section.
            (NameMessages.question("dual.test", counts: [1, 0, 0, 1]), 1),
            (NameMessages.question("dual.test", counts: [1, 0, 0, 1], tail: notRoot), 1),
            (NameMessages.question("dual.test", counts: [1, 0, 0, 2], tail: option + option), 1),
            (NameMessages.question("dual.test", counts: [1, 1, 0, 0], tail: option), 1),
            // The question in this query has a class other than IN.
            (NameMessages.question("dual.test", kind: 3), 5),
        ]
    }()

    @Test(arguments: refused)
    func unanswerableQueriesAreRefused(_ message: [UInt8], _ code: UInt16) throws {
        var zone = dual
        let (_, answer) = try reply(message, &zone)
        #expect(answer.code == code && answer.id == 0x1234 && answer.flags & 0x8000 != 0)
        #expect(answer.answers.isEmpty && zone.unmet == [0])
    }

    @Test func unknownEDNSVersionIsRefused() throws {
        var zone = dual
        let message = NameMessages.question(
            "dual.test", counts: [1, 0, 0, 1], tail: NameMessages.option(size: 600, version: 1))
        let (_, answer) = try reply(message, &zone)
        // The response code is 16. Its upper bits are in the OPT record.
        #expect(answer.code == 0 && answer.additions.map(\.type) == [41])
        #expect(answer.additions.map(\.timeToLive) == [1 << 24])
    }

    /// The longest valid name is 255 bytes long.
    @Test func longestNameIsAccepted() throws {
        var zone = dual
        let name = String(repeating: "aa.", count: 84) + "a"
        #expect(NameMessages.encoded(name).count == 255)
        let (_, answer) = try reply(NameMessages.question(name), &zone)
        #expect(answer.code == 3)
    }

    @Test(arguments: [
        [], [0x12], Array(NameMessages.question("dual.test").prefix(11)),
        NameMessages.question("dual.test", flags: 0x8180),
    ])
    func invalidMessagesAreDropped(_ message: [UInt8]) {
        var zone = dual
        let reply = zone.receive(message.span, by: .udp, at: Self.now)
        #expect(reply == nil)
    }

    /// Names consist of bytes. Labels that are not valid text and dots within a label are escaped, so such names are
    /// distinct.
    @Test func unusualLabelsAreEscaped() throws {
        var zone = dual
        let name: [UInt8] = [9] + Array("dual.test".utf8) + [1, 0xff, 0, 0, 1, 0, 1]
        let (reply, answer) = try reply(Array(NameMessages.question("").prefix(12)) + name, &zone)
        #expect(reply.question == "dual\\.test.\\xff A" && answer.code == 3)
    }

    /// Receiving arbitrary bytes as a query never traps, and every answer that the resolver gives can be decoded.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func arbitraryBytesNeverTrap(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var zone = dual
        let whole = NameMessages.question(
            "dual.test", counts: [1, 0, 0, 1], tail: NameMessages.option(size: 600, data: [0, 10, 0, 2, 1, 2]))
        var answered = 0
        for round in 0..<4000 {
            var message = whole
            if round % 4 == 0 {
                message = (0..<Int(generator.next() % 80)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            } else {
                for _ in 0...generator.next() % 3 {
                    message[Int(generator.next() % UInt64(message.count))] = UInt8(truncatingIfNeeded: generator.next())
                }
                if round % 4 == 1 { message = Array(message.prefix(Int(generator.next() % 60))) }
            }
            for carrier in [NameCarrier.udp, .tcp] {
                guard let reply = zone.receive(message.span, by: carrier, at: Self.now) else { continue }
                answered += 1
                #expect(ReadAnswer(reply.bytes) != nil, "\(message)")
            }
        }
        #expect(answered > 1000)
    }
}
