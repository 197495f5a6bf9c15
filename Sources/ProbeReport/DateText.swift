/// Formats dates for reports.
enum DateText {
    /// Returns a date such as `2026-11-21T22:10:00Z`, given the seconds since 1970 UTC.
    static func iso8601(_ seconds: Int64) -> String {
        let held = min(max(seconds, -62_167_219_200), 253_402_300_799)  // the years 0 to 9999
        let day = Int(held >= 0 ? held / 86400 : (held - 86399) / 86400)
        let second = Int(held) - day * 86400
        // Howard Hinnant's algorithm for civil dates, which divides time into eras of 400 years that begin on 1 March.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        let date = "\(padded(year, 4))-\(padded(civilMonth, 2))-\(padded(dayOfYear - (153 * month + 2) / 5 + 1, 2))"
        return "\(date)T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
