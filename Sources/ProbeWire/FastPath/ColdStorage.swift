/// A value that a `ColdStorage` may hold.
protocol ColdValue: Sendable {
    /// Creates the initial value, which holds nothing yet.
    init()
}

/// A value that costs no more than a pointer for as long as it has its initial value.
///
/// It is for data that only a few of many structs need: a table of thousands of flows spends its time on fetching them
/// from memory, so the data that each packet touches must be close together. It has value semantics: a copy becomes
/// independent when it is changed. Each value that is created takes memory; unchanged copies share it, so a table of
/// thousands creates one and copies it.
struct ColdStorage<Value: ColdValue>: Sendable {
    /// The value; always one element.
    private var storage = [Value()]

    init() {}

    var value: Value {
        @inline(__always) _read { yield storage[0] }
        @inline(__always) _modify { yield &storage[0] }
    }
}

/// The limits shared by all flows of a table, which are copies of one flow: each costs only a pointer.
struct SharedLimits: Sendable {
    private let storage: [ConversationLimits]

    init(_ limits: ConversationLimits) {
        storage = [limits]
    }

    @inline(__always)
    var value: ConversationLimits { storage[0] }
}
