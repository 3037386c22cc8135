/* manager.c - a service manager for specs: manager NOTIFY LISTEN PROGRAM ARGUMENT... starts a program with a
 * listening Unix socket as descriptor 3 and NOTIFY_SOCKET, prints the process id and each message on a line, and
 * exits with the program's status. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int bound(const char *path, int type)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type, 0);

    if (fd < 0 || strlen(path) >= sizeof addr.sun_path)
        return -1;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    return bind(fd, (struct sockaddr *)&addr, sizeof addr) ? -1 : fd;
}

static void become(int fd, char **argv)
{
    char pid[32];

    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("NOTIFY_SOCKET", argv[1], 1);
    setenv("WATCHDOG_USEC", "200000", 1);
    if (fd != 3) {
        dup2(fd, 3);
        close(fd);
    }
    execv(argv[3], argv + 3);
    _exit(127);
}

/* Prints the messages received; false: none. */
static int tell(int fd)
{
    char text[4096];
    ssize_t n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

    if (n < 0)
        return 0;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] == '\n' ? ' ' : text[i];
    printf("%.*s\n", (int)n, text);
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    int messages, sock, status = 0;
    pid_t child;

    if (argc < 4 || (sock = bound(argv[2], SOCK_STREAM)) < 0 || listen(sock, 8) ||
        (messages = bound(argv[1], SOCK_DGRAM)) < 0)
        return perror("manager"), 2;
    child = fork();
    if (child == 0)
        become(sock, argv);
    close(sock);
    printf("pid %d\n", (int)child);
    fflush(stdout);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd p = {.fd = messages, .events = POLLIN};
        if (poll(&p, 1, 50) > 0)
            tell(messages);
    }
    while (tell(messages))
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
