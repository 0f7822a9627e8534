/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Messages of a run; see packets.h. */

#include "run/packets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Before the text, which is not terminated. */
struct header {
	int kind, number;
};

enum { TEXT_MAX = 60000 }; /* a socket takes that much at once */

int packets_open(int pair[2], struct err *e)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)
		       ? err_set(e, errno, "make a pair of sockets")
		       : 0;
}

void packets_send(int fd, enum packet_kind kind, int number, const char *text)
{
	struct header header = {(int)kind, number};
	struct iovec parts[] = {{&header, sizeof(header)},
		{(char *)text, strnlen(text, TEXT_MAX)}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts)};

	while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

bool packets_receive(int fd, struct packet *p)
{
	_cleanup_free_ char *text = calloc(1, TEXT_MAX + 1);
	struct header header;
	struct iovec parts[] = {{&header, sizeof(header)}, {text, TEXT_MAX}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts)};

	if (!text || recvmsg(fd, &message, MSG_DONTWAIT) < (ssize_t)sizeof(header))
		return false;
	*p = (struct packet){(enum packet_kind)header.kind, header.number, take_ptr(text)};
	return true;
}
