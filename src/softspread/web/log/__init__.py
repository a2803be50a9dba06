"""The database: the append-only vote log, its copy in memory, accounts. The only place that speaks SQL."""
