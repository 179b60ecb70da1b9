"""LRA_TEXT, LRA_RETRIEVAL, LRA_IMAGE: Long Range Arena from its official files."""

from mate_tf.data.converters.sequences import BYTES, SYMBOLS
from mate_tf.data.datasets import lra as files
from mate_tf.tasks import lra_settings, registry, sequence

_BYTE_VOCABULARY = 260  # four special pieces and the bytes


@registry.register
class LraTextTask(sequence.SequenceTask):
    """Sentiment of film reviews, one token a byte (IMDb). --input_dir is the folder aclImdb."""

    name = "LRA_TEXT"
    class_names = files.REVIEW_CLASSES

    def interactions(self, input_dir, split):
        return files.read_reviews(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8 with full attention."""
        return lra_settings.experiment(
            sequence.SequenceTaskConfig(
                name=cls.name,
                conversion=lra_settings.conversion(4096, BYTES),
                model=lra_settings.classifier(
                    num_labels=2,
                    vocab_size=_BYTE_VOCABULARY,
                    max_position_embeddings=4096,
                    num_hidden_layers=4,
                    num_attention_heads=4,
                    hidden_size=256,
                    intermediate_size=1024,
                ),
            ),
            train_steps=20_000,
            warmup_steps=8_000,
        )


@registry.register
class LraRetrievalTask(sequence.SequenceTask):
    """Does one paper cite the other? Each is encoded on its own, one token a byte (AAN).

    --input_dir has new_aan_pairs.train.tsv, .eval.tsv and .test.tsv.
    """

    name = "LRA_RETRIEVAL"
    class_names = files.CITATION_CLASSES

    def interactions(self, input_dir, split):
        return files.read_citations(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8: two papers of 4096 tokens each."""
        return lra_settings.experiment(
            sequence.SequenceTaskConfig(
                name=cls.name,
                conversion=lra_settings.conversion(8192, BYTES),
                model=lra_settings.classifier(
                    num_labels=2,
                    hidden_layers=2,
                    num_towers=2,
                    vocab_size=_BYTE_VOCABULARY,
                    max_position_embeddings=4096,
                    num_hidden_layers=4,
                    num_attention_heads=4,
                    hidden_size=128,
                    intermediate_size=512,
                ),
            ),
            train_steps=5_000,
            warmup_steps=8_000,
        )


@registry.register
class LraImageTask(sequence.SequenceTask):
    """Objects in images, one token a pixel (CIFAR-10). --input_dir is cifar-10-batches-py."""

    name = "LRA_IMAGE"
    class_names = files.IMAGE_CLASSES
    symbols = files.PIXELS

    def interactions(self, input_dir, split):
        return files.read_images(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8. [CLS] comes before the 1024 pixels."""
        return lra_settings.experiment(
            sequence.SequenceTaskConfig(
                name=cls.name,
                conversion=lra_settings.conversion(1025, SYMBOLS),
                model=lra_settings.classifier(
                    num_labels=10,
                    dropout=(0.3, 0.2),
                    vocab_size=260,
                    max_position_embeddings=1025,
                    num_hidden_layers=1,
                    num_attention_heads=1,
                    hidden_size=32,
                    intermediate_size=64,
                ),
            ),
            train_steps=35_000,
            warmup_steps=175,
            batch_size=56,
            learning_rate=5e-4,
            weight_decay=0.0,
            cosine=True,
        )
