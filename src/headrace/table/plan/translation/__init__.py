"""Physical plans become operators of a job."""
