"""How Long Range Arena (Tay et al., 2021) trains, with the settings of Treeformer's table 8.

What the table leaves open is as in Long Range Arena's configurations: Adam with weight decay on all
variables, the learning rates, a classifier with a hidden layer as wide as the feed-forward
networks'.
"""

from mate_tf.tasks import configs, sequence
from mate_tf.tasks.trainer_config import TrainerConfig


def conversion(max_seq_length: int, kind: str) -> sequence.SequenceConversionConfig:
    """Of sequences of so many tokens; `kind` is what `conversion.tokens` says."""
    return sequence.SequenceConversionConfig(max_seq_length=max_seq_length, tokens=kind)


def classifier(num_labels: int, *, hidden_layers=1, num_towers=1, dropout=(0.1, 0.1), **encoder):
    """A classifier as Long Range Arena's.

    Args:
        num_labels: classes.
        hidden_layers: of the classifier; each is half as wide as the one before.
        num_towers: see ClassifierConfig.
        dropout: of layers, and of attention probabilities.
        **encoder: fields of the EncoderConfig.
    """
    width = encoder["intermediate_size"]
    hidden, attention = dropout
    return sequence.classifier(
        num_labels,
        encoder={
            "hidden_dropout_prob": hidden,
            "attention_probs_dropout_prob": attention,
            **encoder,
        },
        classification_hidden_sizes=[width // 2**index for index in range(hidden_layers)],
        num_towers=num_towers,
        sequence_dropout_prob=0.0,
    )


def experiment(
    task: sequence.SequenceTaskConfig,
    *,
    train_steps: int,
    warmup_steps: int,
    batch_size: int = 32,
    learning_rate: float = 0.05,
    weight_decay: float = 0.1,
    cosine: bool = False,
) -> configs.TableExperiment:
    """An experiment as Long Range Arena trains.

    The learning rate at step t is `learning_rate` times min(1, t / w) / sqrt(max(t, w)), with w the
    steps of warm-up; or, with `cosine`, times min(1, t / w), and half a cosine down to 0.

    Args:
        task: what to learn.
        train_steps: steps of `batch_size` examples.
        warmup_steps: w.
        batch_size: as above.
        learning_rate: as above.
        weight_decay: of all variables.
        cosine: see above.
    """
    task.train_data.override({"is_training": True, "global_batch_size": batch_size})
    task.validation_data.override({"global_batch_size": batch_size})
    found = configs.TableExperiment(task=task)
    found.trainer = TrainerConfig(
        train_steps=train_steps,
        steps_per_loop=100,
        summary_interval=100,
        checkpoint_interval=1000,
        validation_interval=1000,
    )
    if cosine:
        rate = {
            "type": "cosine",
            "cosine": {
                "initial_learning_rate": learning_rate,
                "decay_steps": train_steps,
                "offset": warmup_steps,
            },
        }
    else:
        rate = {"type": "power", "power": {"initial_learning_rate": learning_rate, "power": -0.5}}
    found.trainer.optimizer_config.override(
        {
            "optimizer": {
                "bert_adamw": {
                    "bias_correction": True,
                    "weight_decay_rate": weight_decay,
                    "exclude_from_weight_decay": [],
                    "beta_2": 0.98,
                    "epsilon": 1e-9,
                }
            },
            "learning_rate": rate,
            "warmup": {"type": "linear", "linear": {"warmup_steps": warmup_steps}},
        }
    )
    return found
