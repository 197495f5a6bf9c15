/// Delta debugging (Zeller and Hildebrandt, 2002). It finds a minimal part of a list that still fails, by removing
/// smaller and smaller chunks of the list.
package enum DeltaDebugging {
    /// Returns a failing part of a list that no longer fails when any single element is removed.
    ///
    /// - Parameter firstFailing: a function that returns the index of the first list that fails; `nil` if none of the
    ///   lists fails.
    package static func minimum<Element>(
        of elements: [Element], firstFailing: ([[Element]]) async -> Int?
    ) async -> [Element] {
        var current = elements
        var parts = 2
        while current.count > 1 {
            let size = (current.count + parts - 1) / parts
            let chunks = stride(from: 0, to: current.count, by: size).map { start in
                start..<min(start + size, current.count)
            }
            let alone = parts == 2 ? [] : chunks.map { Array(current[$0]) }
            let rest = chunks.map { chunk in Array(current[..<chunk.lowerBound]) + current[chunk.upperBound...] }
            let candidates = alone + rest
            if let found = await firstFailing(candidates) {
                current = candidates[found]
                parts = found < alone.count ? 2 : max(2, parts - 1)
            } else if size == 1 {
                return current
            } else {
                parts = min(current.count, parts * 2)
            }
        }
        return current
    }
}
