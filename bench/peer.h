/*
 * bench/peer.h - another library that does the same work, in a process of its own.
 *
 * A peer reads questions, one a line ("run blend 8 1335 interleaved"), and answers each with one line: the nanoseconds
 * that a run took in a sample like ours. It keeps the data of a question for the next time. Peers lie beside the tool,
 * or, installed, in ../libexec/exemplar from there.
 */
#ifndef EXEMPLAR_BENCH_PEER_H
#define EXEMPLAR_BENCH_PEER_H

#include <stdbool.h>

typedef struct exi_peer exi_peer;

/*
 * Starts the program `file` from the folder of peers, with `interpreter` where it is a script (else NULL). NULL where
 * there is no such file or no process; *why then says so in a few words.
 */
exi_peer *exi_peer_start(const char *interpreter, const char *file, const char **why);

/* Asks and waits. False where the peer does not answer with a time; it is not asked again then. */
bool exi_peer_ask(exi_peer *peer, const char *question, double *ns);

/* NULL is fine. */
void exi_peer_stop(exi_peer *peer);

#endif
