import Glibc
import ProbeBase

/// The lower bound for the start times of the flows that are shown: a time of day (`14:03`, `14:03:22.5`), a date and
/// time (`2026-11-22T14:03:22`, with `Z` for UTC), or a number of seconds after the capture's first packet (`+2.5`).
/// Times without `Z` are in the machine's time zone.
package struct StartTime: Sendable, Hashable {
    private enum Moment: Hashable {
        case ofDay(seconds: Int, nanoseconds: UInt64)
        case absolute(UInt64)
        case afterFirst(UInt64)
    }

    /// The time as the user wrote it.
    package let text: String
    private let moment: Moment

    package init?(_ text: String) {
        self.text = text
        if text.hasPrefix("+") {
            guard let time = Self.seconds(text.dropFirst()) else { return nil }
            moment = .afterFirst(time.nanoseconds + UInt64(time.seconds) * 1_000_000_000)
            return
        }
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        guard parts.count == 2 else {
            guard let time = Self.timeOfDay(text[...]) else { return nil }
            moment = .ofDay(seconds: time.seconds, nanoseconds: time.nanoseconds)
            return
        }
        let isUTC = parts[1].hasSuffix("Z")
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2], 1970...9999 ~= year,
            1...12 ~= month, 1...31 ~= day, let time = Self.timeOfDay(isUTC ? parts[1].dropLast() : parts[1])
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday, fields.tm_isdst) = (year - 1900, month - 1, day, -1)
        (fields.tm_hour, fields.tm_min) = (Int32(time.seconds / 3600), Int32(time.seconds / 60 % 60))
        fields.tm_sec = Int32(time.seconds % 60)
        let seconds = isUTC ? timegm(&fields) : mktime(&fields)
        guard seconds >= 0 else { return nil }
        moment = .absolute(UInt64(seconds) * 1_000_000_000 + time.nanoseconds)
    }

    /// Returns the time in nanoseconds since 1970. A time of day refers to the day on which the capture began.
    package func nanoseconds(first: UInt64) -> UInt64 {
        switch moment {
        case .absolute(let time): return time
        case .afterFirst(let time): return first.addingReportingOverflow(time).partialValue
        case .ofDay(let seconds, let nanoseconds):
            var fields = Self.local(first)
            (fields.tm_hour, fields.tm_min) = (Int32(seconds / 3600), Int32(seconds / 60 % 60))
            (fields.tm_sec, fields.tm_isdst) = (Int32(seconds % 60), -1)
            return UInt64(clamping: mktime(&fields)) * 1_000_000_000 + nanoseconds
        }
    }

    /// Formats a time as `14:03:22.123456` in the machine's time zone.
    package static func timeOfDay(_ time: UInt64) -> String {
        let fields = local(time)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let clock = [fields.tm_hour, fields.tm_min, fields.tm_sec].map { padded(Int($0), 2) }.joined(separator: ":")
        return "\(clock).\(padded(Int(time % 1_000_000_000 / 1000), 6))"
    }

    private static func local(_ time: UInt64) -> tm {
        var seconds = time_t(clamping: time / 1_000_000_000)
        var fields = tm()
        localtime_r(&seconds, &fields)
        return fields
    }

    private static func timeOfDay(_ text: Substring) -> (seconds: Int, nanoseconds: UInt64)? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard 2...3 ~= fields.count, fields.allSatisfy({ $0.first?.isNumber == true }), let hour = Int(fields[0]),
            let minute = Int(fields[1]), 0...23 ~= hour, 0...59 ~= minute
        else { return nil }
        guard fields.count == 3 else { return (hour * 3600 + minute * 60, 0) }
        guard let rest = seconds(fields[2]), rest.seconds < 60 else { return nil }
        return (hour * 3600 + minute * 60 + rest.seconds, rest.nanoseconds)
    }

    /// Parses seconds such as `22` or `22.5`, with at most nine decimals.
    private static func seconds(_ text: Substring) -> (seconds: Int, nanoseconds: UInt64)? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.first?.isNumber == true, let whole = Int(first), whole < 4_000_000_000
        else {
            return nil
        }
        guard parts.count == 2 else { return (whole, 0) }
        let digits = parts[1]
        guard 1...9 ~= digits.count, digits.utf8.allSatisfy({ 48...57 ~= $0 }), let value = UInt64(digits) else {
            return nil
        }
        return (whole, (digits.count..<9).reduce(value) { total, _ in total * 10 })
    }
}
