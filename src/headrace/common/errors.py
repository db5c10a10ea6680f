"""Re-export of `headrace.errors`, under PyFlink's module path."""

from headrace.errors import (
    BadRecordError as BadRecordError,
)
from headrace.errors import (
    CloseTimeoutError as CloseTimeoutError,
)
from headrace.errors import (
    ConfigurationError as ConfigurationError,
)
from headrace.errors import (
    HeadraceError as HeadraceError,
)
from headrace.errors import (
    InvalidProgramError as InvalidProgramError,
)
from headrace.errors import (
    JobCancelledError as JobCancelledError,
)
from headrace.errors import (
    JobExecutionError as JobExecutionError,
)
from headrace.errors import (
    LineTooLongError as LineTooLongError,
)
from headrace.errors import (
    MissingExtraError as MissingExtraError,
)
from headrace.errors import (
    NoJvmError as NoJvmError,
)
from headrace.errors import (
    StateError as StateError,
)
from headrace.errors import (
    StateMigrationError as StateMigrationError,
)
from headrace.errors import (
    TaskTimeoutError as TaskTimeoutError,
)
from headrace.errors import (
    TypeMismatchError as TypeMismatchError,
)
from headrace.errors import (
    UserCodeError as UserCodeError,
)
from headrace.errors import (
    reason_of as reason_of,
)
from headrace.errors import (
    shortened as shortened,
)
