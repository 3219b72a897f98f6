"""The main job, end to end and under fire: real processes, real crashes, and a proof at the end."""
