"""`fencepost schedules`."""

from cyclopts import App

schedules = App(name="schedules", help="Add, list, edit, pause and trigger schedules; see when they fire.")
for _name, _path, _text in (
    ("add", "change:add", "Create a schedule; the same again changes nothing."),
    ("edit", "change:edit", "Change what is given of a schedule, from the next decision on."),
    ("list", "look:list_schedules", "List schedules by name."),
    ("show", "look:show", "Show a schedule, when it fires next and what was decided last."),
    ("pause", "operate:pause", "Stop firing: paused time is not missed time."),
    ("resume", "operate:resume", "Fire again, from now on."),
    ("trigger", "operate:trigger", "Fire now, beside the clock."),
    ("delete", "operate:delete", "Remove schedules; their ledgers stay."),
    ("firings", "look:firings", "Show what was decided about each fire time, newest first."),
    ("backfill", "backfill:backfill", "Fire for each fire time of a range of the past."),
    ("backfills", "backfill:backfills", "List backfills and how far they are, newest first."),
    ("stop-backfill", "backfill:stop_backfill", "Decide no further fire times of a backfill."),
    ("sync", "sync:sync", "Bring the schedules that an app declares to the database."),
    ("next", "preview:preview", "Show the next fire times of an expression."),
    ("import-crontab", "crontab:import_crontab", "Turn the lines of a crontab into schedules."),
):
    schedules.command(f"{__name__}.{_path}", name=_name, help=_text)
