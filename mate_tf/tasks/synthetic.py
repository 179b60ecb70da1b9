"""SYNTHETIC: generated tables and questions, the task of the quickstart."""

import dataclasses

from official.modeling.hyperparams import base_config

from mate_tf.data import synthetic
from mate_tf.evaluation import metrics
from mate_tf.field_types import Count, CountOrZero, Share
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.heads import cell_selection
from mate_tf.tasks import base, configs, registry, table


@dataclasses.dataclass
class GenerationConfig(base_config.Config):
    """Number and size of the generated tables.

    Attributes:
        seed: seed of all three splits.
        num_train_tables, num_dev_tables, num_test_tables: tables in the split.
        min_rows: rows of the smallest table.
        max_rows: rows of the largest table.
        questions_per_table: questions about each table, independent of one another.
        train_unanswerable: share of training questions that their table does not answer. A model
            with `allow_empty_column_selection` learns to select no cell for them.
    """

    seed: CountOrZero = 0
    num_train_tables: Count = 2500
    num_dev_tables: CountOrZero = 100
    num_test_tables: CountOrZero = 100
    min_rows: Count = 5
    max_rows: Count = 200
    questions_per_table: Count = 6
    train_unanswerable: Share = 0.0


@dataclasses.dataclass
class SyntheticTaskConfig(configs.TableTaskConfig):
    """Config of a task that generates its tables.

    Attributes:
        generation: number and size of the tables.
    """

    generation: GenerationConfig = dataclasses.field(default_factory=GenerationConfig)


@registry.register
class SyntheticTask(table.TableTask):
    """Look-ups, superlatives and conditions over made-up people, places, products, matches."""

    name = "SYNTHETIC"
    capabilities = base.Capabilities(makes_vocabulary=True, needs_files=False)
    example_table = str(synthetic.EXAMPLE_TABLE)
    example_questions = tuple(question for question, _ in synthetic.EXAMPLE_QUESTIONS)

    def interactions(self, input_dir, split):
        config = self.task_config.generation
        return synthetic.generate(
            config.seed,
            getattr(config, f"num_{split}_tables", 0),
            split=split,
            rows=(config.min_rows, config.max_rows),
            questions_per_table=config.questions_per_table,
            unanswerable=config.train_unanswerable if split == "train" else 0.0,
        )

    def measure(self, interactions, predicted):
        """Computes accuracy in total, by type of question and by number of rows."""
        graded = metrics.grade(interactions, predicted)
        by_type = metrics.breakdown(graded, lambda item: synthetic.question_type(item.question.id))
        return {
            "question type": {"all": (metrics.accuracy(graded), len(graded)), **by_type},
            "rows up to": metrics.breakdown(graded, metrics.table_size),
        }

    def make_vocabulary(self, path):
        synthetic.make_vocabulary(path)

    @classmethod
    def experiment(cls):
        """Returns settings of a small model, trained from scratch (loss: `CellSoftmaxHead`)."""
        experiment = configs.TableExperiment()
        experiment.task = SyntheticTaskConfig(
            name=cls.name,
            conversion=configs.ConversionConfig(max_seq_length=256, drop_rows_to_fit=True),
            model=ClassifierConfig(
                encoder=EncoderConfig(
                    vocab_size=len(synthetic.vocabulary()),
                    # The questions of a table do not refer to each other.
                    disabled_features=["prev_label_ids"],
                    initializer_range=0.08,
                    key_initialization="query",
                    word_embedding_scale=4.0,
                ),
                cell_cross_entropy=True,
                cell_cross_entropy_target=cell_selection.UNIFORM,
            ),
            train_data=configs.TableDataConfig(is_training=True, global_batch_size=16),
        )
        experiment.trainer = configs.TrainerConfig(
            train_steps=800,
            steps_per_loop=50,
            summary_interval=50,
            checkpoint_interval=200,
            validation_interval=800,
        )
        experiment.trainer.optimizer_config.override(
            {
                "optimizer": {"bert_adamw": {"bias_correction": True, "weight_decay_rate": 0.0}},
                # BERT's schedule has its warm-up. A second one, of `warmup`, would stay when a file
                # sets another schedule.
                "learning_rate": {"bert": {"initial_learning_rate": 1e-3, "warmup_ratio": 0.125}},
            }
        )
        return experiment
