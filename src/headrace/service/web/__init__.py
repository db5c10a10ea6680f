"""HTTP around the routes: the Starlette app, who may call it, live events, the web UI, the server."""
