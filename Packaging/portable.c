// Linked into the programs of the tarball only (Packaging/link-portable), which need nothing but glibc 2.31 of the machine that they run on.
#include <stdlib.h>

struct pcap;
typedef struct pcap_if_list pcap_if_list_t;

// Debian's archive of libpcap can also capture what is said on D-Bus, and would bring libdbus, libsystemd and more with it. These two take the
// place of that part: no interface belongs to it.
struct pcap *dbus_create(const char *device, char *problem, int *is_ours);
int dbus_findalldevs(pcap_if_list_t *devices, char *problem);

struct pcap *dbus_create(const char *device, char *problem, int *is_ours) {
    (void)device;
    (void)problem;
    *is_ours = 0;
    return NULL;
}

int dbus_findalldevs(pcap_if_list_t *devices, char *problem) {
    (void)devices;
    (void)problem;
    return 0;
}

// std::__throw_bad_array_new_length(), which the runtime of Swift calls and the C++ library of GCC 10 does not have. Nothing in the runtime
// catches exceptions: it would end the program as well.
void _ZSt28__throw_bad_array_new_lengthv(void);
void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }
