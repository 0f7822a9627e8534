/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Questions and answers; see control.h.  A socket and not a file of the model's own file
 * system: a process that hangs would take with it everybody who looks at a path below it,
 * and a read cannot be given up.
 */

#include "scratch/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "core/macros.h"

#define CLIENT_TIMEOUT_S 3
#define SERVER_TIMEOUT_S 1

struct control_server {
	pthread_t thread;
	int fd;
	control_function *answer;
	void *user;
};

static int make_socket(const char *path, struct sockaddr_un *address, int timeout_s,
	struct err *e)
{
	const struct timeval timeout = { .tv_sec = timeout_s };
	int fd;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return err_set(e, ENAMETOOLONG, "%s", path);
	strcpy(address->sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, errno, "make a socket");
	if (timeout_s && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
				 setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout,
					 sizeof(timeout)))) {
		err_set(e, errno, "set the timeout of a socket");
		close(fd);
		return -e->code;
	}
	return fd;
}

static void serve_one(struct control_server *s, int fd)
{
	const struct timeval timeout = { .tv_sec = SERVER_TIMEOUT_S };
	_cleanup_free_ char *answer = NULL;
	char question[1024];
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	n = recv(fd, question, sizeof(question) - 1, 0);
	if (n <= 0)
		return;
	question[n] = '\0';
	answer = s->answer(s->user, question);
	if (answer && send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		return; /* who asked is gone */
}

static void *serve(void *argument)
{
	struct control_server *s = argument;

	for (;;) {
		_cleanup_close_ int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0)
			serve_one(s, fd);
		else if (errno == EINVAL) /* shut down */
			return NULL;
	}
}

int control_server_new(struct control_server **out, const char *path,
	control_function *answer, void *user, struct err *e)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ struct control_server *s = calloc(1, sizeof(*s));
	struct sockaddr_un address;
	int r;

	if (!s)
		return err_set(e, ENOMEM, "listen at %s", path);
	fd = make_socket(path, &address, 0, e);
	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 16))
		return err_set(e, errno, "listen at %s", path);
	s->answer = answer;
	s->user = user;
	s->fd = fd;
	r = pthread_create(&s->thread, NULL, serve, s);
	if (r)
		return err_set(e, r, "start a thread");
	take_fd(fd);
	*out = take_ptr(s); /* cppcheck-suppress AssignmentAddressToInteger */
	return 0;
}

struct control_server *control_server_free(struct control_server *s)
{
	if (!s)
		return NULL;
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
	free(s);
	return NULL;
}

int control_ask(const char *path, const char *question, char **answer, struct err *e)
{
	_cleanup_free_ char *buffer = malloc(CONTROL_BYTES_MAX);
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address;
	ssize_t n;

	if (!buffer)
		return err_set(e, ENOMEM, "ask at %s", path);
	fd = make_socket(path, &address, CLIENT_TIMEOUT_S, e);
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return err_set(e, errno == EAGAIN ? ETIMEDOUT : errno, "connect to %s", path);
	if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		return err_set(e, errno == EAGAIN ? ETIMEDOUT : errno, "ask at %s", path);
	n = recv(fd, buffer, CONTROL_BYTES_MAX - 1, 0);
	if (n < 0)
		return err_set(e, errno == EAGAIN ? ETIMEDOUT : errno, "wait for %s", path);
	if (n == 0)
		return err_set(e, ECONNRESET, "wait for %s", path);
	buffer[n] = '\0';
	*answer = take_ptr(buffer);
	return 0;
}
