import ArgumentParser

/// The option that determines whether a run in which nothing was judged counts as a success.
///
/// Without a failing exit code, a suite whose cases are all skipped, or a shard without cases, would look like a
/// success to a CI system.
struct EmptyRunOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-empty"),
        help:
            "Exit with 0 instead of 3 if nothing was judged because every case was skipped or the shard has no cases."
    )
    var allowsEmpty = false
}
