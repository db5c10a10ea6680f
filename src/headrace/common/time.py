"""Re-export of `headrace.types.time`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.time import (
    Duration as Duration,
)
from headrace.types.time import (
    Instant as Instant,
)
from headrace.types.time import (
    Time as Time,
)
from headrace.types.time import (
    instant_of as instant_of,
)
from headrace.types.time import (
    millis_of as millis_of,
)
from headrace.types.time import (
    utc_moment as utc_moment,
)
from headrace.types.time import (
    utc_text as utc_text,
)

offer_pyflink_names(__name__)
