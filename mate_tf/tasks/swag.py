"""SWAG: choose the ending of a text from four. Multiple choice.

The settings are those of SparseBERT's appendix C (Shi et al., 2021).
"""

from mate_tf.data.datasets import swag
from mate_tf.tasks import configs, registry, sequence

_NUM_TRAIN = 73_546
_EPOCHS, _BATCH_SIZE = 3, 16


@registry.register
class SwagTask(sequence.SequenceTask):
    """Situations With Adversarial Generations (Zellers et al., 2018); --input_dir has its files.

    The model encodes each ending in a pair with the first sentence and computes one logit for it. A
    softmax over the four logits gives the probabilities. The test set has no labels, so it is
    predicted but not scored.
    """

    name = "SWAG"
    class_names = swag.ENDINGS

    def interactions(self, input_dir, split):
        return swag.read(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns appendix C's settings with BERT-base and full attention."""
        choices = len(cls.class_names)
        return configs.fine_tuning(
            sequence.SequenceTaskConfig(
                name=cls.name,
                conversion=sequence.SequenceConversionConfig(max_seq_length=128 * choices),
                model=sequence.classifier(choices, segments=True, multiple_choice=True),
            ),
            train_steps=_NUM_TRAIN * _EPOCHS // _BATCH_SIZE,
            batch_size=_BATCH_SIZE,
            learning_rate=2e-5,
            warmup_ratio=0.1,
            grad_clipping=None,
        )
