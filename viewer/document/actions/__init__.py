"""All actions on a document, as values: ``action.apply(document)`` returns the changed document.

`__all__` of each module says which of its names are actions.
"""

# ruff: noqa: F403 - each module lists its actions once, in its own `__all__`

from __future__ import annotations

from viewer.document.actions.building_actions import *
from viewer.document.actions.contact_actions import *
from viewer.document.actions.goal_actions import *
from viewer.document.actions.pose_actions import *
from viewer.document.actions.setting_actions import *
from viewer.document.actions.timeline_actions import *
from viewer.document.document import Action as Action
