"""Settings of Long Range Arena (Tay et al., 2021), with the values of Treeformer's table 8.

Settings that the table does not give are those of Long Range Arena's configurations: Adam with
weight decay on all variables, the learning rates, and a classifier with a hidden layer of the width
of the feed-forward networks.
"""

from mate_tf.tasks import configs, sequence
from mate_tf.tasks.trainer_config import TrainerConfig


def conversion(max_seq_length: int, kind: str) -> sequence.SequenceConversionConfig:
    """Returns the conversion of sequences.

    Args:
        max_seq_length: tokens per example.
        kind: kind of tokens, see `SequenceConversionConfig.tokens`.
    """
    return sequence.SequenceConversionConfig(max_seq_length=max_seq_length, tokens=kind)


def classifier(num_labels: int, *, hidden_layers=1, num_towers=1, dropout=(0.1, 0.1), **encoder):
    """Returns the config of a classifier like those of Long Range Arena.

    Args:
        num_labels: number of classes.
        hidden_layers: hidden layers of the classifier; each is half as wide as the previous one.
        num_towers: see `ClassifierConfig`.
        dropout: rates of the hidden layers and of the attention probabilities.
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
    """Returns an experiment with Long Range Arena's optimizer and learning rate.

    The learning rate at step t is `learning_rate` * min(1, t / w) / sqrt(max(t, w)). With `cosine`
    it rises to `learning_rate` in w steps and then follows half a cosine down to 0.

    Args:
        task: config of the task.
        train_steps: number of steps.
        warmup_steps: w, steps of the warm-up.
        batch_size: examples per step.
        learning_rate: see above.
        weight_decay: weight decay of all variables.
        cosine: whether the learning rate follows a cosine.
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
