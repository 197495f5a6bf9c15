/// What a `Seldom` may hold.
protocol SeldomValue: Sendable {
    /// One value, as it is before anything is put into it.
    static var untouched: [Self] { get }
}

/// A value that costs no more than a pointer for as long as it is as it was made.
///
/// For what few of many structs ever need: a table of thousands of flows spends its time on fetching them from memory, so that
/// what each packet touches must lie close together. A value like any other: copies do not share it.
struct Seldom<Value: SeldomValue>: Sendable {
    /// Always one; all that were never changed share it.
    private var storage = Value.untouched

    init() {}

    var value: Value {
        @inline(__always) _read { yield storage[0] }
        @inline(__always) _modify { yield &storage[0] }
    }
}
