"""`fencepost schedules`."""

from cyclopts import App

schedules = App(name="schedules", help="Look at cron schedules.")
PACKAGE = __name__
schedules.command(
    f"{PACKAGE}.preview:preview", name="next", help="Show the next fire times of an expression."
)
