#ifndef CPCAP_SHIM_H
#define CPCAP_SHIM_H
#include <pcap/pcap.h>
#endif
