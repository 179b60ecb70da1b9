"""DENOISE: write the text that noise was put into (BART; Treeformer paper, section B.3)."""

import dataclasses
from typing import Annotated

from mate_tf.data.pretraining import denoising, documents
from mate_tf.data.pretraining.sentence_pairs import Packer
from mate_tf.errors import InputError
from mate_tf.field_types import Count, CountOrZero, Range, Share
from mate_tf.tasks import base, configs, registry, text_pretrain, text_to_text


@dataclasses.dataclass
class DenoiseTaskConfig(text_to_text.TextToTextTaskConfig):
    """Config of the pre-training of an encoder-decoder on plain text.

    Attributes:
        noise: shares and lengths of the noise.
        short_seq_prob: share of the examples with a random shorter length.
        dupe_factor: number of passes over the training text, each with other noise.
        packing_seed: seed of the lengths.
        dev_share: share of the documents for evaluation, if the folders have no dev split.
        tables: whether to read the tables of interactions too, or only their passages.
    """

    noise: denoising.NoiseConfig = dataclasses.field(default_factory=denoising.NoiseConfig)
    short_seq_prob: Share = 0.0
    dupe_factor: Count = 1
    packing_seed: CountOrZero = 0
    dev_share: Annotated[float, Range(0, 1, without="low high")] = 0.05
    tables: bool = False


@registry.register
class DenoiseTask(text_to_text.TextToTextTask):
    """BART's pre-training (Lewis et al., 2020): text infilling and sentence permutation.

    --input_dir is any folder with text, see `data.pretraining.documents`. The noise is in the
    examples, so it is the same in each epoch; `dupe_factor` makes several versions of a text.
    """

    name = "DENOISE"
    splits = documents.SPLITS
    capabilities = base.Capabilities(answers_questions=False, reads_tables=False, writes_text=True)

    def interactions(self, input_dir, split):
        return _Interactions(self.task_config, input_dir, split)

    def converter(self, vocab_file):
        config = self.task_config.conversion
        return denoising.DenoisingConverter(
            vocab_file,
            config.max_seq_length,
            max_target_length=config.max_target_length,
            noise=self.task_config.noise.as_dict(),
        )

    @classmethod
    def experiment(cls):
        """Returns texts of 512 tokens, with the paper's model; BART's other settings are larger."""
        return configs.fine_tuning(
            DenoiseTaskConfig(
                name=cls.name,
                conversion=text_to_text.TargetConversionConfig(
                    max_seq_length=512, max_target_length=512
                ),
            ),
            train_steps=500_000,
            batch_size=256,
            learning_rate=1e-4,
            warmup_ratio=0.02,
            grad_clipping=None,
        )


class _Interactions(text_pretrain.PackedText):
    """Interactions, one for each segment of a document; the texts are its sentences."""

    prefix = "denoise"

    def __init__(self, config: DenoiseTaskConfig, input_dir, split: str):
        if config.conversion.tokens != "word_pieces":
            raise InputError(
                f"task.conversion.tokens={config.conversion.tokens}: DENOISE masks words"
            )
        super().__init__(config, input_dir, split)

    def packer(self, texts, tokenizer):
        conversion = self._config.conversion
        packer = Packer(
            texts,
            tokenizer,
            min(conversion.max_seq_length, conversion.max_target_length),
            next_sentence=False,
            short_seq_prob=self._config.short_seq_prob,
        )
        return lambda seed: ((sentences, None) for sentences in packer.segments(seed))
