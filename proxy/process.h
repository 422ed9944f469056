/* process - what the system says of this process, for /metrics; under the names that Prometheus' own clients use.
 *
 * Threads: any. */
#ifndef DYNAX_PROXY_PROCESS_H
#define DYNAX_PROXY_PROCESS_H

#include <stdint.h>

/* Processor time of all its threads, user and system, in nanoseconds. */
uint64_t process_cpu_ns(void);
/* Memory that it has in RAM, in bytes, and files that it has open, sockets too; 0 if /proc cannot be read. */
uint64_t process_resident_bytes(void);
uint64_t process_open_files(void);

#endif
