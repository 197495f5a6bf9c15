import ArgumentParser

/// Whether a run in which nothing was judged counts as one that passed.
///
/// A suite whose cases are all skipped, and a shard without cases, look like success to a CI that reads the exit code only.
struct EmptyRunOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-empty"),
        help:
            "Exit with 0 if nothing was judged: every case was skipped, or the shard has none. Without it the exit code is 3."
    )
    var allowsEmpty = false
}
