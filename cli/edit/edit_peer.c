/*
 * cli/edit/edit_peer.c - tells which user has the other end of a connection within this machine.
 *
 * Linux lists every socket with its user in /proc/net/tcp, or in tcp6 for clients that write 127.0.0.1 as an IPv6
 * address. There is no such list on other systems: then no user is known.
 */
#define _POSIX_C_SOURCE 200809L

#include "edit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PLACE_SIZE = 48 };

/* "0100007F:1F90", as the lists have it: the bytes of the address as a number of this machine. */
static void print_place(char place[PLACE_SIZE], const char *prefix, const struct sockaddr_in *address) {
    snprintf(place, PLACE_SIZE, "%s%08X:%04X", prefix, (unsigned)address->sin_addr.s_addr, ntohs(address->sin_port));
}

/* Finds the user of an open connection. A closed one is listed as root's, so its state counts too. */
static bool find_user(const char *list, const char *local, const char *remote, unsigned *user) {
    FILE *file = fopen(list, "r");
    char line[512], from[64], to[64], state[8];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, " %*s %63s %63s %7s %*s %*s %*s %u", from, to, state, user) == 4 &&
                strcasecmp(from, local) == 0 && strcasecmp(to, remote) == 0 && strcmp(state, "01") == 0;
    if (file)
        fclose(file);
    return found;
}

bool exi_peer_can_tell(void) {
    return access("/proc/net/tcp", R_OK) == 0;
}

bool exi_peer_is_user(int connection) {
    static const struct {
        const char *list, *prefix;
    } lists[] = {{"/proc/net/tcp", ""}, {"/proc/net/tcp6", "0000000000000000FFFF0000"}};
    struct sockaddr_in own, peer;
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getsockname(connection, (struct sockaddr *)&own, &own_size) != 0 ||
        getpeername(connection, (struct sockaddr *)&peer, &peer_size) != 0 || peer.sin_family != AF_INET)
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char local[PLACE_SIZE], remote[PLACE_SIZE];
        unsigned user;
        print_place(local, lists[i].prefix, &peer);
        print_place(remote, lists[i].prefix, &own);
        if (find_user(lists[i].list, local, remote, &user))
            return user == 0 || user == getuid() || user == geteuid();
    }
    return false;
}
