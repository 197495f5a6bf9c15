/// Finds the word in a list that is most similar to a given word, for "did you mean" hints.
package enum Suggestion {
    /// Returns the word of `candidates` that is most similar to `word`; `nil` if no candidate is similar enough for
    /// `word` to be a misspelling of it.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(word.lowercased().utf8.prefix(64))
        guard !wanted.isEmpty else { return nil }
        let limit = wanted.count <= 2 ? 1 : wanted.count <= 5 ? 2 : 3
        var best: (distance: Int, word: String)?
        for candidate in candidates where candidate != word {
            let letters = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(letters.count - wanted.count) <= limit else { continue }
            let distance = distance(wanted, letters)
            guard distance <= limit, distance < max(letters.count, wanted.count), distance * 2 <= letters.count + 1
            else {
                continue
            }
            if best == nil || distance < best!.distance { best = (distance, candidate) }
        }
        return best?.word
    }

    /// Returns whether the word is similar to a word that begins a statement.
    static func isNear(_ word: String) -> Bool { nearest(to: word, among: ReservedNames.all) != nil }

    /// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of
    /// adjacent bytes.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for i in 1...left.count {
            var row = [i] + [Int](repeating: 0, count: right.count)
            for j in 1...right.count {
                let cost = left[i - 1] == right[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}

/// Returns a number followed by its noun, in the singular or plural: `1 byte`, `2 bytes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Returns `did you mean …?` or, if no choice is similar, the whole list of choices after `intro`.
func didYouMean(_ word: String, _ choices: [String], _ intro: String) -> String {
    if let longer = choices.first(where: {
        $0.utf8.starts(with: word.utf8) && $0.utf8.dropFirst(word.utf8.count).first == 0x20
    }) {
        return "did you mean `\(longer)`?"
    }
    if let near = Suggestion.nearest(to: word, among: choices) { return "did you mean `\(near)`?" }
    let firsts = choices.map { String($0.prefix(while: { $0 != " " })) }
    if let near = Suggestion.nearest(to: word, among: firsts), let index = firsts.firstIndex(of: near) {
        return "did you mean `\(choices[index])`?"
    }
    return "\(intro) " + choices.joined(separator: ", ")
}
