"""Routes: thin functions over the service, one file per group of users."""
