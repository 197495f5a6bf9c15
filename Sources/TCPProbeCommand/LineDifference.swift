import ProbeBase
import ProbeEvents

/// Computes the difference between two texts, in the format of `diff -u`.
enum LineDifference {
    private enum Line {
        case same(String)
        case removed(String)
        case added(String)
    }

    /// The number of unchanged lines shown before and after a change.
    private static let context = 3

    static func unified(old: [UInt8], new: [UInt8], path: String) -> String {
        let merged = merge(lines(old), lines(new))
        var text = "--- \(path)\n+++ \(path)\n"
        var index = 0
        var (oldLine, newLine) = (1, 1)
        while index < merged.count {
            guard case .same = merged[index] else {
                let end = hunkEnd(merged, from: index)
                let start = max(0, index - context)
                // The unchanged lines before the change have already been counted in the line numbers.
                let before = index - start
                text += hunk(merged[start..<end], oldLine: oldLine - before, newLine: newLine - before)
                for line in merged[index..<end] { advance(line, &oldLine, &newLine) }
                index = end
                continue
            }
            advance(merged[index], &oldLine, &newLine)
            index += 1
        }
        return text
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Escaped.text($0) }
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private static func merge(_ old: [String], _ new: [String]) -> [Line] {
        let difference = new.difference(from: old)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var merged: [Line] = []
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            if i < old.count && removed.contains(i) {
                merged.append(.removed(old[i]))
                i += 1
            } else if j < new.count && inserted.contains(j) {
                merged.append(.added(new[j]))
                j += 1
            } else {
                merged.append(.same(old[i]))
                i += 1
                j += 1
            }
        }
        return merged
    }

    /// Returns the end of the hunk: the end of the context after the hunk's last change. If the contexts of two changes
    /// would overlap, the changes belong to the same hunk.
    private static func hunkEnd(_ lines: [Line], from start: Int) -> Int {
        var last = start
        var index = start
        while index < lines.count && index - last <= 2 * context {
            if case .same = lines[index] {} else { last = index }
            index += 1
        }
        return min(lines.count, last + 1 + context)
    }

    private static func hunk(_ lines: ArraySlice<Line>, oldLine: Int, newLine: Int) -> String {
        var (oldCount, newCount) = (0, 0)
        var body = ""
        for line in lines {
            switch line {
            case .same(let text):
                oldCount += 1
                newCount += 1
                body += " \(text)\n"
            case .removed(let text):
                oldCount += 1
                body += "-\(text)\n"
            case .added(let text):
                newCount += 1
                body += "+\(text)\n"
            }
        }
        return "@@ -\(oldLine),\(oldCount) +\(newLine),\(newCount) @@\n" + body
    }

    private static func advance(_ line: Line, _ old: inout Int, _ new: inout Int) {
        switch line {
        case .same:
            old += 1
            new += 1
        case .removed: old += 1
        case .added: new += 1
        }
    }
}
