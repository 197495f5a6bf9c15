// A library for tests built with -sanitize=thread, loaded before them (LD_PRELOAD).
//
// The standard library's Mutex is inlined except for its slow paths, in which threads synchronize. The slow paths are
// in a library that is not instrumented, so ThreadSanitizer reports races between accesses that a mutex orders. This
// library tells ThreadSanitizer that a thread that has acquired the lock is synchronized with everything that the
// previous holder did. No report is suppressed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// `__tsan_acquire` and `__tsan_release` are absent in programs that the tests start.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t thread, __attribute__((swift_context)) void *handle);
typedef __attribute__((swiftcall)) void (*Unlock)(__attribute__((swift_context)) void *handle);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();  // If a function is missing, the standard library has changed, and this file must be updated.
    return found;
}

// The fast paths atomically exchange the first word of the handle.
__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *handle) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *handle)
{
    ((Lock)next(LOCK))(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *handle) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *handle)
{
    if (__tsan_release) __tsan_release(handle);
    ((Unlock)next(UNLOCK))(handle);
}
