/* server - the daemon put together: addresses, store, caches, workers, listeners, admin, signals.
 *
 *    main thread: accept, signals, admin      workers: connections       store: writer, checkpointer, readers
 *
 * Shutting down: the first SIGINT or SIGTERM stops accepting, lets running requests end within the drain limit, then closes
 * the store; a second one exits at once, which loses nothing that was acknowledged. SIGHUP reads the options again.
 *
 * Threads: the main thread. */
#ifndef DYNAX_PROXY_SERVER_H
#define DYNAX_PROXY_SERVER_H

#include "proxy/config.h"

struct server;

/* Everything up to and without serving. NULL and e on failure. argv is kept for reloads. */
struct server *server_open(const struct config *c, int argc, char *const *argv, struct config_error *e);
/* Serve until told to stop. Prints the ready line. */
bool server_run(struct server *s);
void server_close(struct server **s);

#endif
