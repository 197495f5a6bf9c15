import Glibc

/// The bytes of an uncompressed file, which are read once and shared by several readers on different threads.
///
/// A reader that needs a chunk that is not in memory reads the chunk into one of a few buffers. The buffers are used in
/// turn. If another reader is already reading that chunk, the reader reads the following chunk instead, if a buffer is
/// free. A buffer is free once every reader has released its chunk, so the fastest reader waits for the slowest one.
final class SharedChunks: @unchecked Sendable {
    struct Chunk {
        fileprivate(set) var bytes: [UInt8] = []
        /// The number of bytes in `bytes` that were read from the file; 0 at the end of the file.
        fileprivate(set) var count = 0
        /// The number of the chunk in the file, counting from 0.
        fileprivate var number = -1
    }

    // Every mutable stored property is accessed only while `lock` is held. A reader takes its buffer out of `buffers`
    // before it reads without the lock. The lock is a POSIX mutex because readers wait on a condition variable.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private let descriptor: Int32
    /// The buffers. Chunk `n` is in `buffers[n % buffers.count]` once it has been read.
    private var buffers: [Chunk]
    /// The number of chunks that have been read or are being read.
    private var begun = 0
    /// The number of the last chunk of the file, which is the first chunk that is not full.
    private var last = Int.max
    /// The number of chunks that each reader has received. `released` is the number of chunks that it has released.
    private var taken: [Int]
    private var released: [Int]
    private var isStopped = false
    /// The number of the first chunk that could not be read, and the error.
    private var failed: (number: Int, error: CaptureSourceError)?

    /// The size of a chunk. It is large enough that the lock is rarely taken, and small enough that a chunk is still in
    /// the processor's cache when the other reader uses it.
    static let chunkSize = 1 << 18
    private static let chunkCount = 4

    /// Creates the shared chunks of a file.
    ///
    /// - Parameter descriptor: the descriptor from `CaptureSource.plainDescriptor`, which must remain open for as long
    ///   as the chunks are used.
    init(_ descriptor: Int32, readers: Int) {
        self.descriptor = descriptor
        buffers = [Chunk](repeating: Chunk(), count: Self.chunkCount)
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

    /// The reason why the file could not be read to its end; `nil` if the whole file was read. Valid after `next` has
    /// returned an empty chunk.
    var failure: CaptureSourceError? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        // An error beyond the end of the file is ignored.
        return failed.flatMap { $0.number == last + 1 ? $0.error : nil }
    }

    /// Returns the next chunk for a reader, and releases the chunk that the reader received before.
    func next(_ reader: Int) -> Chunk {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        let number = taken[reader]
        if released[reader] != number {
            released[reader] = number
            pthread_cond_broadcast(changed)
        }
        while !isStopped, number <= last {
            if buffers[number % buffers.count].number == number {
                taken[reader] += 1
                return buffers[number % buffers.count]
            }
            if begun <= last, !released.contains(where: { $0 <= begun - buffers.count }) {
                fill()
            } else {
                pthread_cond_wait(changed, lock)
            }
        }
        return Chunk()
    }

    /// Records that a reader needs no more chunks, so that no other reader waits for it.
    func leave(_ reader: Int) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        released[reader] = Int.max
        pthread_cond_broadcast(changed)
    }

    /// Makes all later calls to `next` return an empty chunk.
    func stop() {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        isStopped = true
        pthread_cond_broadcast(changed)
    }

    /// Reads the next chunk of the file without holding the lock.
    private func fill() {
        let number = begun
        begun += 1
        // The buffer is taken out of the array, because it would be copied on writing if it had two owners.
        var chunk = Chunk()
        swap(&chunk, &buffers[number % buffers.count])
        pthread_mutex_unlock(lock)
        if chunk.bytes.isEmpty { chunk.bytes = [UInt8](repeating: 0, count: Self.chunkSize) }
        let result = CaptureSource.read(descriptor, at: number * Self.chunkSize, into: &chunk.bytes)
        pthread_mutex_lock(lock)
        switch result {
        case .success(let count):
            chunk.count = count
            chunk.number = number
            swap(&chunk, &buffers[number % buffers.count])
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
