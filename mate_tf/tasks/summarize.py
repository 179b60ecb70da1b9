"""SUMMARIZE: write the summary of a document (Treeformer paper, section B.3)."""

import dataclasses

from mate_tf.data.datasets import summaries
from mate_tf.evaluation import rouge
from mate_tf.tasks import configs, registry, text_to_text

_NUM_TRAIN = 119_924  # PubMed's
_EPOCHS, _BATCH_SIZE = 10, 32


@dataclasses.dataclass
class SummarizeTaskConfig(text_to_text.TextToTextTaskConfig):
    """Config of summarization.

    Attributes:
        section_names: put the name of each section before its text; for PubMed and arXiv.
    """

    section_names: bool = False


@registry.register
class SummarizeTask(text_to_text.TextToTextTask):
    """Writes summaries. --input_dir has the files of PubMed or arXiv, or other JSON lines.

    See `data.datasets.summaries` for the formats. Predictions are in <split>.jsonl; the metrics are
    ROUGE's, beside those of sentences of the document.
    """

    name = "SUMMARIZE"
    splits = summaries.SPLITS
    baselines = ("lead-1", "lead-3", "random sentence")

    def interactions(self, input_dir, split):
        return summaries.read(input_dir, split, self.task_config.section_names)

    def check_packages(self):
        rouge.require()

    def measure(self, interactions, predicted):
        """Computes ROUGE; see `evaluation.rouge`."""
        return {"ROUGE (F1)": rouge.evaluate(interactions, predicted)}

    def compare(self, interactions, systems):
        """Computes the differences in ROUGE to each baseline, with paired bootstrap intervals."""
        if not any(each.answer.answer_texts for found in interactions for each in found.questions):
            return {}
        return {
            "model minus baseline, 95 % interval": {
                name: rouge.differences(interactions, systems["model"], found)
                for name, found in systems.items()
                if name != "model"
            }
        }

    @classmethod
    def experiment(cls):
        """Returns the paper's lengths and model; its steps and learning rate are not given."""
        return configs.fine_tuning(
            SummarizeTaskConfig(name=cls.name),
            train_steps=_NUM_TRAIN * _EPOCHS // _BATCH_SIZE,
            batch_size=_BATCH_SIZE,
            learning_rate=5e-5,
            warmup_ratio=0.1,
            grad_clipping=None,
        )
