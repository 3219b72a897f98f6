"""Crontabs, as cron reads them: what they say, line by line, and what of it can become schedules."""
