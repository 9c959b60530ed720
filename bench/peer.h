/*
 * bench/peer.h - another library that does the same work, in a separate process.
 *
 * A peer reads questions, one per line ("run blend 8 1335 interleaved"), and answers each with one line: the
 * nanoseconds that a run took in a sample like ours. It keeps the data of a question for the next time. Peers are next
 * to the tool, or, installed, in ../libexec/exemplar from there.
 */
#ifndef EXEMPLAR_BENCH_PEER_H
#define EXEMPLAR_BENCH_PEER_H

#include <stdbool.h>

typedef struct exi_peer exi_peer;

/*
 * Starts the program `file` from the folder of peers, with `interpreter` if it is a script (otherwise NULL). NULL if
 * there is no such file or no process; *why then says so in a few words.
 */
exi_peer *exi_peer_start(const char *interpreter, const char *file, const char **why);

/* Sends a question and waits. False if the peer does not answer with a time; it is not used again then. */
bool exi_peer_ask(exi_peer *peer, const char *question, double *ns);

/* NULL is fine. */
void exi_peer_stop(exi_peer *peer);

#endif
