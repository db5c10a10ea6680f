"""The job service: Flink's REST API for one job (inside its own process) or for many (the dispatcher).

From bottom to top: `shapes` turns what is known of a job into Flink's JSON, without any I/O; `rest` lists the routes;
`dispatcher` keeps, starts and watches jobs; `web` puts HTTP around the routes. `python -m headrace.service` starts a
dispatcher. The command line and the web UI talk to all of this by HTTP only.
"""
