/// Why a worker can't do what it is told.
struct WorkerProblem: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
