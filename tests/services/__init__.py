"""The real things that tests run against: a Postgres server and a Chromium."""
