"""MATE as the paper's appendix D sketches it, registered as the attention variant `appendix_d`.

A plain re-expression of figure 7 of the paper, to compare `mate_efficient` with: the same
projections, then per type of heads sort, cut, `einsum`, softmax, sort back. Put right or filled in:

1. `global` is a keyword of Python: `first` here.
2. Scores of the window: keys have an axis of buckets too (`BHNFE,BHNTE->BHNFT`), and so do values.
3. `context_layer_to_first` is `context_layer_to_global`.
4. The two contexts are joined along the sequence (axis -2), not along the embedding.
5. `embedding_size`, whose root divides the scores, is that of one head.
6. Scores from global tokens are masked too, or padding would be seen.
7. What figure 7 leaves out: sorting with `tf.gather`, filling up the last bucket, rotating buckets,
   the mask by rows or columns, padding, and sorting back.
8. Rotation puts the last bucket before the first one, and with one or two buckets a key is in the
   window twice: these places are masked, so that each key counts once.

A question longer than G loses sight of what is far away, as in figure 7; in `mate_efficient` not.
"""

import tensorflow as tf

from mate_tf import attention
from mate_tf.attention import masks, mate_exact, mate_forms, mate_heads
from mate_tf.attention.base import MASKED_SCORE, TableAttention
from mate_tf.layers.shapes import shape_list

NAME = "appendix_d"


class AppendixDPattern(mate_exact.MatePattern):
    """Orders and masks of row heads and column heads, once a batch."""

    def call(self, context, training=None):
        return {
            kind.ids: self._of_heads(getattr(context, kind.ids), kind.radius, context)
            for kind in self.head_types
        }

    def _of_heads(self, ids, radius, context):
        """The order, and who sees whom in it; tokens behind the last one are not real."""
        _, length = shape_list(ids)
        first = min(self.config.global_length, length)
        num_buckets = max(-(-(length - first) // radius), 1)
        filling = [[0, 0], [0, first + num_buckets * radius - length]]
        order = masks.sort_order(context, ids)

        def ordered(x, value):
            return tf.pad(tf.gather(x, order, batch_dims=1), filling, constant_values=value)

        ids = ordered(ids, -1)
        real = ordered(masks.real_tokens(context), False)
        question = ordered(masks.question_tokens(context), False)
        views = [Views.of(x[:, None, :, None], first, radius) for x in (ids, real, question)]
        ids, real, question = views
        return {
            "order": order,
            "inverse": masks.inverse_permutation(order),
            "real": tf.cast(masks.real_tokens(context), self.compute_dtype)[:, :, None, None],
            "from_first": self._bias(ids, real, question, "first", "full"),
            "to_first": self._bias(ids, real, question, "long", "first"),
            "to_window": self._bias(ids, real, question, "long", "window"),
            "once": tf.where(_once(num_buckets, radius), 0.0, MASKED_SCORE),
        }

    def _bias(self, ids, real, question, queries, keys):
        """<float>[batch, 1, (buckets,) queries, keys]: 0 where a token sees another one."""

        def of(views, name, axis):
            x = getattr(views, name)[..., 0]
            if queries == "long" and name == "first":
                x = x[:, :, None]  # the same for all buckets
            return tf.expand_dims(x, axis)

        same = of(ids, queries, -1) == of(ids, keys, -2)
        either = of(question, queries, -1) | of(question, keys, -2)
        both = of(real, queries, -1) & of(real, keys, -2)
        return tf.where(both & (same | either), 0.0, MASKED_SCORE)


class Views:
    """Results of cutting a sorted tensor, <float>[batch, heads, length, size]."""

    def __init__(self, full, first, long, window):
        self.full, self.first, self.long, self.window = full, first, long, window

    @classmethod
    def of(cls, x, global_length: int, radius: int):
        """The views of x, in which long part is filled up to whole buckets."""
        batch, heads, _, size = shape_list(x)
        tail = x[:, :, global_length:]
        long = tf.reshape(tail, [batch, heads, -1, radius, size])
        parts = [tf.roll(long, 1, axis=2), long, tf.roll(long, -1, axis=2)]
        return cls(x, x[:, :, :global_length], long, tf.concat(parts, axis=3))


def _once(num_buckets: int, radius: int) -> tf.Tensor:
    """<bool>[buckets, 1, 3 radius]: which places of a window no other one stands for."""
    own = tf.range(num_buckets)[:, None]
    shown = own + tf.repeat(tf.range(-1, 2), radius)
    return ((shown >= 0) & (shown < num_buckets))[:, None, :]


class AppendixD(TableAttention):
    """The listing, for each type of heads."""

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.head_types = mate_heads.head_types(self.config, num_heads)

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        return mate_forms.MateEfficient.flops(config, num_heads, hidden_size, length)

    def attend(self, query, key, value, pattern, training=None):
        contexts = []
        for kind in self.head_types:
            heads = slice(kind.first, kind.first + kind.count)
            projections = (x[:, :, heads] for x in (query, key, value))
            of_kind = pattern[kind.ids]
            context = self._of_heads(*projections, of_kind, kind.radius, training)
            contexts.append(context * of_kind["real"])
        return tf.concat(contexts, axis=2)

    def _of_heads(self, query, key, value, pattern, radius, training):
        """<float>[batch, seq, heads, head_size] all of them."""
        length = shape_list(query)[1]
        first = shape_list(pattern["to_first"])[-1]
        filling = shape_list(pattern["from_first"])[-1] - length

        def views(x):
            x = tf.gather(x, pattern["order"], batch_dims=1)
            x = tf.pad(x, [[0, 0], [0, filling], [0, 0], [0, 0]])
            return Views.of(tf.transpose(x, [0, 2, 1, 3]), first, radius)

        context = self._multi_view(*map(views, (query, key, value)), pattern, training)
        context = tf.transpose(context, [0, 2, 1, 3])
        return tf.gather(context, pattern["inverse"], batch_dims=1)

    def _multi_view(self, query, key, value, pattern, training):
        """Figure 7: <float>[batch, heads, filled length, head_size], in the order of the views."""
        scale = self.scale(query.full.dtype)
        bias = {name: tf.cast(x, scale.dtype) for name, x in pattern.items() if "_" in name}
        once = tf.cast(pattern["once"], scale.dtype)

        # <float>[batch, heads, global_length, length]
        from_first = tf.einsum("BHFE,BHTE->BHFT", query.first, key.full) * scale
        from_first = tf.nn.softmax(from_first + bias["from_first"])
        # <float>[batch, heads, buckets, radius, global_length], [..., 3 radius]
        to_first = tf.einsum("BHNFE,BHTE->BHNFT", query.long, key.first) * scale
        to_window = tf.einsum("BHNFE,BHNTE->BHNFT", query.long, key.window) * scale
        scores = [to_first + bias["to_first"], to_window + bias["to_window"] + once]
        from_long = tf.nn.softmax(tf.concat(scores, axis=-1))
        from_first, from_long = (
            self.dropout(x, training=training) for x in (from_first, from_long)
        )
        first = shape_list(to_first)[-1]
        to_first, to_window = from_long[..., :first], from_long[..., first:]

        context_from_first = tf.einsum("BHFT,BHTE->BHFE", from_first, value.full)
        context = tf.einsum("BHNFT,BHTE->BHNFE", to_first, value.first)
        context += tf.einsum("BHNFT,BHNTE->BHNFE", to_window, value.window)
        batch, heads, buckets, radius, size = shape_list(context)
        context_from_long = tf.reshape(context, [batch, heads, buckets * radius, size])
        return tf.concat([context_from_first, context_from_long], axis=-2)


attention.register(NAME, AppendixDPattern, AppendixD, mate_heads.MateOptions)
