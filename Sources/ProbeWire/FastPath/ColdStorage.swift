/// What a `ColdStorage` may hold.
protocol ColdValue: Sendable {
    /// As it is before anything is put into it.
    init()
}

/// A value that costs no more than a pointer for as long as it is as it was made.
///
/// For what few of many structs ever need: a table of thousands of flows spends its time on fetching them from memory, so that
/// what each packet touches must lie close together. A value like any other: a copy becomes one of its own when it is changed. Each that
/// is made takes memory; the copies of one that was not changed share it, so a table of thousands makes one and copies it.
struct ColdStorage<Value: ColdValue>: Sendable {
    /// Always one.
    private var storage = [Value()]

    init() {}

    var value: Value {
        @inline(__always) _read { yield storage[0] }
        @inline(__always) _modify { yield &storage[0] }
    }
}

/// The same limits for all flows of a table, which are copies of one: for the price of a pointer each.
struct SharedLimits: Sendable {
    private let storage: [ConversationLimits]

    init(_ limits: ConversationLimits) {
        storage = [limits]
    }

    @inline(__always)
    var value: ConversationLimits { storage[0] }
}
