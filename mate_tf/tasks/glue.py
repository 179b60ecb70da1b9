"""RTE, MRPC, COLA, SST-2, STS-B: five tasks of GLUE (Wang et al., 2018).

The settings are those of Treeformer's table 7; metrics are GLUE's.
"""

from typing import ClassVar

from mate_tf.data.datasets import glue
from mate_tf.tasks import configs, registry, sequence


class GlueTask(sequence.SequenceTask):
    """Base class of GLUE's tasks. --input_dir has train.tsv, dev.tsv and test.tsv.

    The test set has no labels, so it is predicted but not scored.

    Attributes:
        form: format of the files.
        epochs, batch_size, learning_rate: settings of Treeformer's table 7.
        num_train: examples of the official training set; they determine the steps of an epoch.
    """

    form: ClassVar[glue.Format]
    num_train = 0
    epochs = 10
    batch_size = 16
    learning_rate = 1e-5

    def interactions(self, input_dir, split):
        return glue.read(input_dir, split, self.form)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 7 with BERT-base and full attention."""
        return configs.fine_tuning(
            sequence.SequenceTaskConfig(
                name=cls.name,
                conversion=sequence.SequenceConversionConfig(max_seq_length=128),
                # BERT embeds the first segment's id even if there is no second segment.
                model=sequence.classifier(len(cls.class_names) or 1, segments=True),
            ),
            train_steps=cls.num_train * cls.epochs // cls.batch_size,
            batch_size=cls.batch_size,
            learning_rate=cls.learning_rate,
            warmup_ratio=0.1,
            grad_clipping=None,
        )


@registry.register
class RteTask(GlueTask):
    """Recognizing Textual Entailment: does the second text follow from the first?"""

    name = "RTE"
    form = glue.RTE
    class_names = glue.RTE.labels
    num_train = 2_490
    learning_rate = 2e-5


@registry.register
class MrpcTask(GlueTask):
    """Microsoft Research Paraphrase Corpus: do two sentences mean the same?"""

    name = "MRPC"
    form = glue.MRPC
    class_names = ("different", "paraphrase")
    further_metrics = ("F1",)
    num_train = 3_668


@registry.register
class ColaTask(GlueTask):
    """Corpus of Linguistic Acceptability: is a sentence grammatical?"""

    name = "COLA"
    form = glue.COLA
    class_names = ("unacceptable", "acceptable")
    further_metrics = ("Matthews correlation",)
    num_train = 8_551


@registry.register
class Sst2Task(GlueTask):
    """Stanford Sentiment Treebank: is a sentence of a film review positive or negative?"""

    name = "SST-2"
    form = glue.SST_2
    class_names = ("negative", "positive")
    num_train = 67_349
    epochs = 3
    batch_size = 128
    learning_rate = 3e-5


@registry.register
class StsBTask(GlueTask):
    """Semantic Textual Similarity Benchmark: similarity of two sentences, from 0 to 5.

    It is not in table 7; its settings are those of RTE.
    """

    name = "STS-B"
    form = glue.STS_B
    baselines = ()
    num_train = 5_749
    learning_rate = 2e-5
