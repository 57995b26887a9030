"""Real servers for tests: RabbitMQ 3.10 and 4.0, a cluster of three, and a server that speaks MongoDB's protocol.

Each run has servers of its own, on free ports and in a folder of its own, and everything is stopped and removed when
the run ends, however it ends. `GHCRAWL_TEST_AMQP_URL` and `GHCRAWL_TEST_MONGO_URL` point the tests at other servers.

    keeper      a child process that outlives this one just long enough to clean up behind it
    rabbitmq    a broker, which a test can restart, kill, and ask for a virtual host
    cluster     three of them
    debian      where RabbitMQ comes from: this machine's package, or Debian 13's in a folder
    mongo       the server that speaks MongoDB's protocol
    fixtures    all of that for pytest

`python -m tests.support.services` starts one of each and says where they are.
"""
