// Linked only into the programs of the tarball (Packaging/link), which require nothing but glibc 2.31 on the machine that runs them.
#include <stdlib.h>

struct pcap;
typedef struct pcap_if_list pcap_if_list_t;

// Debian's static libpcap can also capture D-Bus messages, and would require libdbus, libsystemd and others. These two
// functions replace that part; they report that there are no D-Bus interfaces.
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

// std::__throw_bad_array_new_length(), which the Swift runtime calls and the C++ library of GCC 10 lacks. Nothing in the runtime catches
// exceptions, so throwing one would end the program too.
void _ZSt28__throw_bad_array_new_lengthv(void);
void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }
