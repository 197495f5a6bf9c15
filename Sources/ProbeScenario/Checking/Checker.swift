final class Checker {
    init(_ draft: Draft) {}
    func check() {}
}
