"""`fencepost jobs`."""

from cyclopts import App

jobs = App(name="jobs", help="Submit, list, show, wait for, cancel, requeue, edit and revoke jobs.")
for _path, _text in (
    ("submit:submit", "Submit a job and print its id."),
    ("look:list_jobs", "List jobs, newest first."),
    ("look:show", "Show a job as it is now."),
    ("look:history", "Show how a job came to be: its events, and refused reports beside them."),
    ("wait:wait", "Wait until a job is finished."),
    ("change:cancel", "Cancel pending jobs, ask running ones to stop."),
    ("change:requeue", "Put finished jobs back."),
    ("change:revoke", "End leases at once, by force."),
    ("edit:edit", "Change pending jobs."),
):
    _name = _path.partition(":")[2].removesuffix("_jobs")
    jobs.command(f"{__name__}.{_path}", name=_name, help=_text)
