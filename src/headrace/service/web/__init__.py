"""HTTP for the routes: the Starlette app, access control, live events, the web UI, the server."""
