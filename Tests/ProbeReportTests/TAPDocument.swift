/// A TAP 14 document, parsed strictly: anything that the specification does not allow is an error.
struct TAPDocument {
    struct Point: Equatable {
        var isOK: Bool
        var number: Int
        /// The description of the test point, without its escapes.
        var description: String
        var directive: Directive?
        /// The lines between `---` and `...`, without their indentation by two columns.
        var diagnostic: [String] = []
    }

    enum Directive: Equatable {
        case skip(String)
        case todo(String)
    }

    struct Violation: Error, CustomStringConvertible {
        var line: Int
        var description: String
    }

    private(set) var points: [Point] = []
    private(set) var plan: Int?
    private(set) var bailOut: String?
    private(set) var comments: [String] = []

    init(_ text: String) throws(Violation) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var number = 0
        func fail(_ text: String) -> Violation { Violation(line: number, description: "line \(number): \(text)") }
        guard lines.popLast() == "" else { throw fail("the last line has no line feed") }
        if lines.first != "TAP version 14" { throw fail("no version line") }
        var block: [String]?
        for line in lines.dropFirst() {
            number += 1
            if let open = block {
                if line == "  ..." {
                    points[points.count - 1].diagnostic = open
                    block = nil
                } else if line.isEmpty {
                    block = open + [""]
                } else {
                    if !line.hasPrefix("  ") { throw fail("inside a diagnostic, but not indented: \(line)") }
                    block = open + [String(line.dropFirst(2))]
                }
                continue
            }
            if bailOut != nil { throw fail("a line after Bail out!: \(line)") }
            if line == "  ---" {
                if points.isEmpty || !points[points.count - 1].diagnostic.isEmpty {
                    throw fail("a diagnostic without a test point")
                }
                block = []
            } else if line.hasPrefix("1..") {
                if plan != nil { throw fail("a second plan") }
                plan = Int(line.dropFirst(3).prefix { $0.isNumber })
            } else if line.hasPrefix("Bail out!") {
                bailOut = String(line.dropFirst("Bail out! ".count))
            } else if line.hasPrefix("# ") {
                comments.append(String(line.dropFirst(2)))
            } else if let point = TAPDocument.point(line) {
                if point.number != points.count + 1 { throw fail("test point \(point.number) out of order") }
                if plan != nil { throw fail("a test point after the trailing plan") }
                points.append(point)
            } else {
                throw fail("not TAP: \(line)")
            }
        }
        if block != nil { throw fail("an unterminated diagnostic") }
        if plan != points.count {
            throw fail("the plan is \(plan.map(String.init) ?? "missing") for \(points.count) points")
        }
    }

    private static func point(_ line: String) -> Point? {
        let isOK = line.hasPrefix("ok ")
        guard isOK || line.hasPrefix("not ok ") else { return nil }
        let rest = line.dropFirst(isOK ? 3 : 7)
        guard let number = Int(rest.prefix { $0.isNumber }) else { return nil }
        let body = rest.drop { $0.isNumber }
        guard body.hasPrefix(" - ") else { return nil }
        var parts = [""]
        var isEscaped = false
        for scalar in body.dropFirst(3).unicodeScalars {
            if isEscaped {
                guard scalar == "#" || scalar == "\\" else { return nil }
                parts[parts.count - 1].unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "#" {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        if isEscaped || parts.count > 2 { return nil }
        guard parts.count == 2 else { return Point(isOK: isOK, number: number, description: parts[0]) }
        guard parts[0].hasSuffix(" ") else { return nil }
        let directive: Directive
        if parts[1].hasPrefix(" SKIP") {
            directive = .skip(String(parts[1].dropFirst(6)))
        } else if parts[1].hasPrefix(" TODO") {
            directive = .todo(String(parts[1].dropFirst(6)))
        } else {
            return nil
        }
        return Point(isOK: isOK, number: number, description: String(parts[0].dropLast()), directive: directive)
    }
}
