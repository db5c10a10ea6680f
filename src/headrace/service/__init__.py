"""The job service: Flink's REST API for one job (inside its own process) or for many (the dispatcher).

From bottom to top: `responses` turns the view of a job into Flink's JSON without any I/O; `rest` lists the routes;
`dispatcher` stores, starts and supervises jobs; `web` serves the routes over HTTP. `python -m headrace.service` starts a
dispatcher. The command line and the web UI use only HTTP.
"""
