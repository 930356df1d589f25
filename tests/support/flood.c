/* Sends datagrams to a port that nothing listens to, as fast as the card takes them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int count, char **arguments)
{
    static char datagram[1400];
    int wanted = count > 1 ? atoi(arguments[1]) : 1;
    int sent = 0;
    int from = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};

    inet_pton(AF_INET, "10.0.0.1", &to.sin_addr);
    for (int number = 0; number < wanted; number++)
        sent += sendto(from, datagram, sizeof(datagram), 0, (struct sockaddr *)&to, sizeof(to)) > 0;
    printf("flooded with %d datagrams\n", sent);
    return 0;
}
