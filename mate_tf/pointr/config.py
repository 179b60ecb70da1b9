"""Config of POINTR: experiments of both stages, and the choice of the answer."""

import dataclasses

from official.core import config_definitions
from official.modeling.hyperparams import base_config

from mate_tf import field_types
from mate_tf.errors import InputError
from mate_tf.field_types import Count
from mate_tf.pointr.readings import POLICIES
from mate_tf.tasks import registry
from mate_tf.tasks.configs import TableExperiment

NAME = "POINTR"
POINT, READ = "point", "read"
STAGES = {POINT: "HYBRIDQA", READ: "HYBRIDQA_RC"}
"""Stage -> task that it trains."""


@dataclasses.dataclass
class PointrTaskConfig(config_definitions.TaskConfig):
    """Choice of the cells that are read, and of the answer.

    Attributes:
        name: POINTR.
        num_cells: number of most probable cells to read.
        policy: "first" answers with the best span of the most probable cell, as the paper does;
            "product" with the span of the largest P(cell) * P(span | cell).
    """

    name: str = NAME
    num_cells: Count = 1
    policy: str = "first"


@dataclasses.dataclass
class PointrExperiment(base_config.Config):
    """Experiments of both stages, and the settings that combine them.

    Attributes:
        task: see `PointrTaskConfig`.
        point: experiment of task HYBRIDQA.
        read: experiment of task HYBRIDQA_RC.
    """

    task: PointrTaskConfig = dataclasses.field(default_factory=PointrTaskConfig)
    point: TableExperiment = dataclasses.field(
        default_factory=lambda: registry.experiment(STAGES[POINT])
    )
    read: TableExperiment = dataclasses.field(
        default_factory=lambda: registry.experiment(STAGES[READ])
    )

    def check(self, source: str) -> None:
        """Raises InputError for values of the right type that cannot be used.

        Args:
            source: file or flags, for the message.
        """
        name = self.task.name
        if name.upper() != NAME:
            raise InputError(f"{source}: is an experiment for task {name}, not for {NAME}")
        field_types.check("task.num_cells", self.task.num_cells, Count, source)
        if self.task.policy not in POLICIES:
            names = f"one of {', '.join(POLICIES)}"
            raise field_types.refused("task.policy", self.task.policy, names, source)
