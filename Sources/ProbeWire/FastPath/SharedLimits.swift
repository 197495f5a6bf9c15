/// The same limits for all flows of a table, which are copies of one: for the price of a pointer each.
struct SharedLimits: Sendable {
    private let storage: [ConversationLimits]

    init(_ limits: ConversationLimits) {
        storage = [limits]
    }

    @inline(__always)
    var value: ConversationLimits { storage[0] }
}
