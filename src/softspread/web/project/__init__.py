"""One voting project: items, queue, live soft labels, dashboard numbers. Knows neither HTTP nor SQL."""
