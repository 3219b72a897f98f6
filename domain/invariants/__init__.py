"""The invariants of the history and the checker that judges a log by them.

I1 seq is 1..n, ``enqueued`` first and only once · I2 the row is the fold of its events · I3 order is by seq,
positions grow with it, no ``at`` is later than the verifier's clock · I4 each event is one that a rule allows, given
the job · I6 (as far as digests show) texts are unaltered · I7 the facts of submission change only by an event that
says so · I8 attempts granted are 1, 2, 3 … · I9 leases never overlap · I10 reports carry the open lease's token · I11
no lease is reaped early · I12 (as far as events show) leases only grow · I13 no claim before run_at · I15 terminal
states are left only by an operator's ``requeued`` · I18 failures are counted, and bounded by max_attempts · I20
snooze and release are free, but capped · I21 waits after failures follow the policy · I22 a requeue resets failures,
not attempt · I25 each job stems from somebody's submit · I26 no job is lost · I27 a slot, which is a fire time and
who asked for it, has at most one firing and one job · I28 each fire time that was due has exactly one decision, with
a reason that the policies allow · I29 the next fire time is the first without a decision, and goes back only by a
change · I30 a decision and its job tell the same · I31 jobs of a schedule begin beside each other only when its
overlap policy allows it · I37 no claim from a paused queue · I38 operations carry an actor and a request id. I19
follows from I11, I18 and I21.
"""

from .checker import Checker, check
from .inquiry import ClockStep, Report, Violation
from .surroundings import Surroundings

__all__ = ["Checker", "ClockStep", "Report", "Surroundings", "Violation", "check"]
