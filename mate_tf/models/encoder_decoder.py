"""An encoder with any attention variant and a Transformer decoder: Treeformer's section B.3."""

import functools

import numpy as np
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers import replica_losses
from mate_tf.layers.framework import keras
from mate_tf.layers.shapes import build_child, shape_list
from mate_tf.models import generation
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.decoder import Decoder, Memory
from mate_tf.models.encoder import TableEncoder
from mate_tf.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["EncoderDecoder", "EncoderDecoderConfig"]

_NO_WORDS = 1e-5  # added to the number of words, to avoid a division by zero


class EncoderDecoder(ConfiguredModel):
    """Generates a text from a text or a table. Only the encoder has sparse attention.

    Examples:
        >>> model = EncoderDecoder(EncoderDecoderConfig())
        >>> model(features)["logits"].shape
        [batch, target - 1, vocab]
        >>> model.generate(features, beam_size=4, max_length=64)["ids"].shape
        [batch, 64]

    Variables exist from construction on.

    Raises:
        InputError: if values of the config are out of range or contradict each other.
    """

    config_type = EncoderDecoderConfig

    def __init__(self, config, name="encoder_decoder", **kwargs):
        super().__init__(config, name, **kwargs)
        config.check()
        self.encoder = TableEncoder(config.encoder, name="bert")
        self.decoder = Decoder(config, name="decoder")
        self.build(None)

    def build(self, input_shape=None):
        """Creates the variables of the decoder."""
        build_child(self.decoder, None)
        self.target_embeddings = None
        if not self._config.share_embeddings:
            encoder = self._config.encoder
            with tf.name_scope(self.decoder.name):
                self.target_embeddings = self.add_weight(
                    "word_embeddings",
                    [encoder.vocab_size, encoder.hidden_size],
                    initializer=keras.initializers.TruncatedNormal(
                        stddev=encoder.initializer_range * encoder.word_embedding_scale
                    ),
                )
        self.built = True

    @property
    def word_embeddings(self) -> tf.Variable:
        """Table of the target's words, <float32>[vocab, hidden]."""
        if self.target_embeddings is None:
            return self.encoder.embeddings.word_embeddings
        return self.target_embeddings

    def checkpoint_variables(self):
        """Returns name in TF1 checkpoints -> variable; those of the decoder are below decoder/."""
        variables = self.encoder.checkpoint_variables() | self.decoder.checkpoint_variables()
        if self.target_embeddings is not None:
            variables["decoder/embeddings/word_embeddings"] = self.target_embeddings
        return variables

    def call(self, features, training=None):
        """Predicts each token of the target from the input and the tokens before it.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq], and target_ids
                <int32>[batch, target]: [CLS], the tokens, [SEP], then 0 as padding.

        Returns:
            dict with the encoder's outputs (sequence_output, pooled_output, encoder_outputs,
            embedding_output) and
            logits: <float32>[batch, target - 1, vocab], of the tokens after [CLS].
            predictions: <int32>[batch, target - 1], the most probable tokens.
            total_loss: <float32>[], mean of example_loss over the tokens that are not padding.
            example_loss: <float32>[batch, target - 1], cross-entropy with `label_smoothing`.

        Raises:
            InputError: if a feature is missing, or there are more tokens than positions.
        """
        if "target_ids" not in features:
            raise InputError("the decoder needs the feature 'target_ids'")
        inputs, labels = features["target_ids"][:, :-1], features["target_ids"][:, 1:]
        encoded = self.encoder(features, training=training)
        memories = self.decoder.memories(encoded["sequence_output"], features["input_mask"])
        x = self.decoder(inputs, memories, self.word_embeddings, training=training)
        batch, target, hidden = shape_list(x)
        # [batch * target, hidden] -> [batch * target, vocab]
        logits = self.decoder.logits(tf.reshape(x, [-1, hidden]), self.word_embeddings)
        losses = _cross_entropy(logits, tf.reshape(labels, [-1]), self._config.label_smoothing)
        weights = tf.reshape(tf.cast(labels != generation.PADDING_ID, tf.float32), [-1])
        predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return {
            **encoded,
            "logits": tf.reshape(logits, [batch, target, logits.shape[-1]]),
            "predictions": tf.reshape(predictions, [batch, target]),
            "total_loss": replica_losses.weighted_mean(losses, weights, _NO_WORDS),
            "example_loss": tf.reshape(losses, [batch, target]),
        }

    def generate(
        self,
        features,
        *,
        max_length: int,
        beam_size: int = 1,
        length_penalty: float = 0.6,
        min_length: int = 0,
        no_repeat_ngram_size: int = 0,
        use_cache: bool = True,
    ) -> dict:
        """Generates a target for each example; put it into a tf.function for speed.

        Args:
            features: dict of the encoder's inputs, <int32>[batch, seq].
            max_length: largest number of tokens, with [SEP]; the last one can only be [SEP].
            beam_size: hypotheses that are kept; 1: greedy search.
            length_penalty: exponent of the length in scores (`generation`); 0.6 is the value of Wu
                et al. (2016). Without effect on greedy search but for the score.
            min_length: least number of tokens before [SEP].
            no_repeat_ngram_size: no sequence of this many tokens is generated twice; 0: any may be.
            use_cache: keep keys and values of earlier tokens. False: compute all tokens again at
                each step, which gives the same tokens and takes longer.

        Returns:
            dict with
            ids: <int32>[batch, max_length], the tokens with [SEP], then 0.
            scores: <float32>[batch], log-probability divided by the length penalty.

        Raises:
            InputError: if an argument is out of its range, or a feature is missing.
        """
        if max_length > self._config.max_target_positions:
            raise InputError(
                f"max_length={max_length} is more than "
                f"max_target_positions={self._config.max_target_positions}"
            )
        encoded = self.encoder(features, training=False)["sequence_output"]
        memories = self.decoder.memories(encoded, features["input_mask"])
        batch = shape_list(encoded)[0]
        if use_cache:
            next_logits = functools.partial(self._next_logits, memories)
            cache = self.decoder.empty_cache(batch, max_length)
        else:
            # [batch, ...] -> [batch * beam, ...]
            memories = [Memory(*(tf.repeat(x, beam_size, 0) for x in each)) for each in memories]
            next_logits, cache = functools.partial(self._next_logits_again, memories), {}
        return generation.search(
            next_logits,
            cache,
            batch,
            vocab_size=self._config.encoder.vocab_size,
            start_id=self._config.start_id,
            end_id=self._config.end_id,
            max_length=max_length,
            beam_size=beam_size,
            length_penalty=length_penalty,
            min_length=min_length,
            no_repeat_ngram_size=no_repeat_ngram_size,
        )

    def _next_logits(self, memories, ids, index, cache):
        """Returns logits <float32>[batch * beam, vocab] and the cache, see `generation.search`."""
        x, cache = self.decoder.step(ids[:, -1], index, cache, memories, self.word_embeddings)
        return self.decoder.logits(x, self.word_embeddings), cache

    def _next_logits_again(self, memories, ids, index, cache):
        """Returns the logits of `_next_logits`, without a cache."""
        x = self.decoder(ids, memories, self.word_embeddings, training=False)
        return self.decoder.logits(x[:, -1], self.word_embeddings), cache

    def start_decoder(self) -> list[str]:
        """Copies weights of the encoder into the decoder (Rothe et al., 2020).

        Each decoder layer gets self-attention and feed-forward network of an encoder layer: the
        same layers if there are as many, otherwise layers evenly spread from the first to the last.
        Positions get the encoder's, with the vector of segment 0 that BERT adds to each token.
        Positions beyond the encoder's, cross-attention and output bias keep their values.

        Returns:
            names of the variables that were copied to, as in `checkpoint_variables`.

        Raises:
            InputError: if the encoder has no layers.
        """
        embeddings, blocks = self.encoder.embeddings, self.encoder.blocks
        if not blocks:
            raise InputError("start_decoder_from_encoder: the encoder has no layers")
        pairs = [
            (self.decoder.embeddings_LayerNorm.gamma, embeddings.LayerNorm.gamma),
            (self.decoder.embeddings_LayerNorm.beta, embeddings.LayerNorm.beta),
        ]
        if embeddings.position_embeddings is not None:
            table, own = embeddings.position_embeddings, self.decoder.position_embeddings
            number = min(table.shape[0], own.shape[0])
            first = table[:number] + sum(t[0] for t in embeddings.token_type_embeddings)
            pairs.append((own, tf.concat([first, own[number:]], axis=0)))
        if self.target_embeddings is not None:
            pairs.append((self.target_embeddings, embeddings.word_embeddings))
        chosen = np.linspace(0, len(blocks) - 1, len(self.decoder.blocks)).round()
        for block, index in zip(self.decoder.blocks, chosen, strict=True):
            source = blocks[int(index)].checkpoint_variables()
            own = block.variables_of_encoder()
            pairs += [(variable, source[name]) for name, variable in own.items()]
        for variable, value in pairs:
            variable.assign(value)
        copied = {id(variable) for variable, _ in pairs}
        return [name for name, v in self.checkpoint_variables().items() if id(v) in copied]


def _cross_entropy(logits, labels, smoothing):
    """Returns <float32>[tokens]: cross-entropy of <float32>[tokens, vocab] with smoothed labels.

    The label's probability is 1 - smoothing, and `smoothing` is spread over the whole vocabulary.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    if not smoothing:
        return losses
    uniform = tf.reduce_logsumexp(logits, axis=-1) - tf.reduce_mean(logits, axis=-1)
    return (1 - smoothing) * losses + smoothing * uniform
