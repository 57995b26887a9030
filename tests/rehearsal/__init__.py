"""What months do to a deployment, in minutes: rolled, killed, reconfigured, scaled and cut off while it crawls.

One sequence (`sequence`) is played on a fleet of replicas, which is either a Deployment in whatever Kubernetes
`kubectl` points to (`cluster`: `make rehearsal`) or plain processes (`processes`: an ordinary test). GitHub is the
simulator, in this process, so that its world is the judge; it sends webhooks (`github`). Broker and database are those
of the tests. Probes are watched all the time (`watch`), and everything is written down as it happens (`timeline`).
"""
