"""Peak memory within a block, also of what is gone at its end."""

from mate_tf.analysis.cost import memory

SIZE = 2**26


def test_peak_of_what_is_freed():
    with memory.peak_of_block() as peak:
        block = bytearray(SIZE)
        block[:: 2**12] = b"x" * len(block[:: 2**12])
        del block
    found = peak()
    assert 0.9 * SIZE < found.increment < 1.5 * SIZE
    assert found.peak > found.increment
    with memory.peak_of_block() as peak:
        pass
    assert peak().increment < 0.1 * SIZE
