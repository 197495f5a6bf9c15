import Glibc

/// A plain file's bytes, read once for several readers that have threads of their own.
///
/// A reader that needs a chunk which is not there yet reads it into a ring of few buffers, or, while another reader does so, the next one:
/// no reader waits for a chunk that is being read if there is another one to read. The fastest reader waits while the slowest has yet to
/// look at the oldest of them.
final class SharedChunks: @unchecked Sendable {
    struct Chunk {
        fileprivate(set) var bytes: [UInt8] = []
        /// That many of `bytes`; 0 where nothing more comes.
        fileprivate(set) var count = 0
        /// Which chunk of the file it is.
        fileprivate var number = -1
    }

    // All that changes is touched under `lock` alone; while a reader reads, the buffer at hand is out of the ring. It is a
    // POSIX mutex because a reader waits on a condition.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private let descriptor: Int32
    /// Chunk `n` is in `ring[n % ring.count]`, once it has been read.
    private var ring: [Chunk]
    /// Chunks that a reader has read or is reading.
    private var claimed = 0
    /// The first chunk that is not whole; behind it nothing comes.
    private var last = Int.max
    /// By reader: chunks that it has taken, and those of them that it has let go of.
    private var taken: [Int]
    private var released: [Int]
    private var isStopped = false
    /// The first chunk that could not be read, and why.
    private var failed: (number: Int, error: CaptureSourceError)?

    /// Large enough that locks are few, small enough that the other reader finds a chunk in the processor's cache.
    static let chunkSize = 1 << 17
    private static let chunkCount = 4

    /// - Parameter descriptor: see `CaptureSource.plainDescriptor`; it stays open for as long as this is used.
    init(_ descriptor: Int32, readers: Int) {
        self.descriptor = descriptor
        ring = [Chunk](repeating: Chunk(), count: Self.chunkCount)
        taken = [Int](repeating: 0, count: readers)
        released = taken
        lock = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Why the file could not be read to its end, once `next` has come to nothing.
    var failure: CaptureSourceError? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        // A file that ends before has no such chunk.
        return failed.flatMap { $0.number == last + 1 ? $0.error : nil }
    }

    /// The next chunk for this reader, which has let go of the one before.
    func next(_ reader: Int) -> Chunk {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        let number = taken[reader]
        if released[reader] != number {
            released[reader] = number
            pthread_cond_broadcast(changed)
        }
        while !isStopped, number <= last {
            if ring[number % ring.count].number == number {
                taken[reader] += 1
                return ring[number % ring.count]
            }
            if claimed <= last, !released.contains(where: { $0 <= claimed - ring.count }) {
                fill()
            } else {
                pthread_cond_wait(changed, lock)
            }
        }
        return Chunk()
    }

    /// This reader takes no more: no other reader waits for it.
    func leave(_ reader: Int) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        released[reader] = Int.max
        pthread_cond_broadcast(changed)
    }

    /// No reader is handed anything any more.
    func stop() {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        isStopped = true
        pthread_cond_broadcast(changed)
    }

    /// Does not hold the lock while it reads.
    private func fill() {
        let number = claimed
        claimed += 1
        // Taken out of the ring, so that it has one owner and is not copied.
        var chunk = Chunk()
        swap(&chunk, &ring[number % ring.count])
        pthread_mutex_unlock(lock)
        if chunk.bytes.isEmpty { chunk.bytes = [UInt8](repeating: 0, count: Self.chunkSize) }
        let result = CaptureSource.read(descriptor, at: number * Self.chunkSize, into: &chunk.bytes)
        pthread_mutex_lock(lock)
        switch result {
        case .success(let count):
            chunk.count = count
            chunk.number = number
            swap(&chunk, &ring[number % ring.count])
            if count < Self.chunkSize { last = min(last, number) }
        case .failure(let error):
            if number <= last {
                failed = (number, error)
                last = number - 1
            }
        }
        pthread_cond_broadcast(changed)
    }
}
