/// Where text goes, a whole line or more at a time, each ended by a line feed.
package typealias TextOutput = (String) -> Void
