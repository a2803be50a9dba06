"""The server: routes, pages, sign-in and limits. The only place that speaks HTTP."""
