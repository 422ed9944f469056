/* load - the load generator behind `dynax bench`. bench/README.md says how to read its numbers. */
#ifndef DYNAX_BENCH_LOAD_H
#define DYNAX_BENCH_LOAD_H

/* argv[0] is "bench". Returns the exit code. */
int load_main(int argc, char **argv);

#endif
