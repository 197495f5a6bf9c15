/// Parses durations and sizes on a command line.
enum QuantityArgument {
    /// Parses a duration such as `500ms`, `5s` or `1.5m`; `nil` if the text is not a duration, or if the duration is
    /// not positive.
    static func time(_ text: String) -> Duration? {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        for (unit, seconds) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number > 0, number * seconds < 1e7 else {
                continue
            }
            return .milliseconds(Int64((number * seconds * 1000).rounded(.up)))
        }
        return nil
    }

    /// Parses a size such as `512B`, `64KiB`, `16MiB` or `1MB`; `nil` if the text is not a size, or if the size is not
    /// positive.
    static func size(_ text: String) -> Int? {
        let units = [
            ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("kB", 1000), ("MB", 1_000_000),
            ("GB", 1_000_000_000), ("B", 1),
        ]
        guard let (unit, bytes) = units.first(where: { text.hasSuffix($0.0) }),
            let number = Int(text.dropLast(unit.count)), number > 0
        else { return nil }
        let (size, overflow) = number.multipliedReportingOverflow(by: bytes)
        // The result is limited, so that adding two sizes can't overflow.
        return overflow || size > Int.max / 2 ? nil : size
    }
}
