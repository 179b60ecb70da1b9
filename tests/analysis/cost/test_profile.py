"""The profile of variants: every row is measured or says why not; table, JSON and plots."""

import json
import types

import pytest
import tensorflow as tf

from mate_tf.analysis.cost import (
    encoder_layers,
    encoder_worker,
    flops,
    measuring_process,
    profile,
    profile_report,
    speed,
)
from mate_tf.errors import InputError
from mate_tf.models.encoder_config import EncoderConfig

PNG = b"\x89PNG"


def config():
    small = EncoderConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    small.attention.override({"global_length": 24, "radius": 4})
    return small


@pytest.fixture(scope="module")
def made_once():
    """Traces each case and counts its FLOPs once: every process would do it anew."""

    def once(make):
        made = {}

        def found(config, of):
            key = json.dumps(config.as_dict()), of
            if key not in made:
                made[key] = make(config, of)
            return made[key]

        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder_layers, "function", once(encoder_layers.function))
        patch.setattr(flops, "count_layers", once(flops.count_layers))
        yield


@pytest.fixture
def in_process(monkeypatch, made_once):
    """Workers within this process: in_process.requests lists what they were asked. A worker dies
    when it is asked for a request and a variant that are in in_process.deadly."""
    seen = types.SimpleNamespace(requests=[], deadly=set(), started=0)
    monkeypatch.setattr(speed, "Machine", lambda: speed_of_nothing)
    speed_of_nothing = types.SimpleNamespace(
        rates=lambda precisions: {
            **{name: {"float32": 1e9, "bfloat16": 2e9}[name] for name in precisions},
            "bandwidth": 1e9,
        }
    )

    class InProcess(measuring_process.Worker):
        def __init__(self, command, environment=None):
            seen.started += 1
            self.measurements = encoder_worker.Measurements(config())
            self.living = True

        @property
        def alive(self):
            return self.living

        def ask(self, request, **arguments):
            seen.requests.append((request, arguments.get("variant"), arguments.get("length")))
            if (request, arguments.get("variant")) in seen.deadly:
                self.living = False
            if not self.living:
                raise measuring_process.MeasurementFailed("killed")
            try:
                reply = getattr(self.measurements, request)(**arguments)
                return json.loads(json.dumps(reply))  # as in a process of its own
            except Exception as error:
                raise measuring_process.MeasurementFailed(
                    measuring_process.first_line(error)
                ) from error

        def close(self):
            self.living = False

    monkeypatch.setattr(profile, "Worker", InProcess)
    return seen


def settings(**fields):
    defaults = {"config": config(), "lengths": (64,), "variants": ("full", "mate_efficient")}
    return profile.Settings(**(defaults | {"repeats": 2, "threads": 1} | fields))


def test_rows_table_json_and_plots(in_process, tmp_path, capsys):
    chosen = settings(lengths=(64, 96), precisions=("float32", "bfloat16"))
    found = profile.run(chosen, str(tmp_path), "x")
    rows = found["rows"]
    assert [(row["length"], row["precision"], row["variant"]) for row in rows] == [
        (length, precision, variant)
        for length in (64, 96)
        for precision in ("float32", "bfloat16")
        for variant in ("full", "mate_efficient")
    ]
    for row in rows:
        assert row["seconds"] > 0
        assert row["products"] == pytest.approx(row["formula_flops"], rel=0.2)
        rate = {"float32": 1e9, "bfloat16": 2e9}[row["precision"]]
        assert row["matmul_rate"] == rate
        share = row["formula_flops"] / row["seconds"] / rate
        assert row["share_of_matmul_rate"] == pytest.approx(share)
        assert row["share_of_bandwidth"] == pytest.approx(row["bytes"] / row["seconds"] / 1e9)
        assert row["memory_peak"] > row["memory_increment"] >= 0
    # memory; each prepared once; then in turns, with the machine's rates
    requests = [name for name, _, _ in in_process.requests]
    of_length = ["flops"] * 2 + ["prepare"] * 8 + (["rates"] + ["run"] * 4) * 2
    assert requests == of_length * 2
    assert json.loads((tmp_path / "x.json").read_text())["rows"] == rows
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"x.json", "x_seconds.png", "x_everything.png", "x_memory_increment.png"}
    assert all(path.read_bytes().startswith(PNG) for path in tmp_path.glob("*.png"))
    printed = capsys.readouterr().out
    assert "64 tokens, forward; bfloat16 matmul 2 GFLOP/s; float32 matmul 1 GFLOP/s" in printed
    assert printed.startswith("1 layer of width 16, 2 heads, batch 1\n")
    assert "\n  GFLOP     floating point operations of a forward pass" in printed
    assert found["machine"]["tensorflow"] == tf.__version__
    assert "mate_efficient (bfloat16)" in printed
    assert len(found["growth"]) == 4
    assert found["growth"][0]["everything"] == pytest.approx(1.4, abs=0.4)


def test_one_that_dies_leaves_the_others(in_process, tmp_path, capsys):
    """Out of memory while it is prepared: its row says so, and it is not tried again."""
    in_process.deadly.add(("prepare", "full"))
    chosen = settings(variants=("mate_exact", "full", "mate_efficient"), memory=False)
    (rows,) = profile.measure(chosen)
    by_name = {row["variant"]: row for row in rows}
    assert by_name["full"]["error"] == "killed"
    assert "seconds" not in by_name["full"]
    assert by_name["full"]["formula_flops"] > 0
    assert by_name["mate_exact"]["seconds"] > 0
    assert by_name["mate_efficient"]["seconds"] > 0
    assert in_process.started == 3  # for the FLOPs, until it died, and for the others
    assert "failed: killed" in profile_report.table(rows)
    # nor where memory was measured before
    in_process.requests.clear()
    (rows,) = profile.measure(settings())
    assert [r for r in in_process.requests if r[:2] == ("prepare", "full")] == [
        ("prepare", "full", 64)
    ]


def test_one_that_dies_in_its_turn_is_not_asked_again(in_process):
    """A process that is dead replies to nothing; each of its cases hears that once."""
    in_process.deadly.add(("run", "mate_efficient"))
    (rows,) = profile.measure(settings(memory=False, repeats=5))
    runs = [variant for request, variant, _ in in_process.requests if request == "run"]
    assert runs == ["full", "mate_efficient", "full"]  # the last one finds out
    assert all(row["error"] == "killed" and "seconds" not in row for row in rows)


def test_counting_goes_on_in_another_process(in_process):
    """A variant that cannot be traced in the memory there is has no counts; the next one has."""
    in_process.deadly.add(("flops", "full"))
    (rows,) = profile.measure(settings(memory=False, time=False))
    full, mate_efficient = rows
    assert in_process.started == 2
    assert full["formula_flops"] > 0
    assert "products" not in full
    assert mate_efficient["products"] > 0
    assert mate_efficient["bytes"] > 0


def test_training_has_no_formula_of_its_own(in_process):
    (rows,) = profile.measure(settings(passes=("training",), memory=False, variants=("full",)))
    (row,) = rows
    share = 3 * row["formula_flops"] / row["seconds"] / 1e9
    assert row["share_of_matmul_rate"] == pytest.approx(share)
    assert "share_of_bandwidth" not in row


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"variants": ("full", "fast")}, "unknown attention 'fast'"),
        ({"precisions": ("half",)}, "precisions: 'half' is not one of float32, bfloat16, float16"),
        ({"passes": ("backward",)}, "passes: 'backward' is not one of forward, training"),
        ({"lengths": (20, 64)}, "lengths: 20 tokens leave no room for a table"),
        ({"variants": ()}, "variants: nothing to measure"),
    ],
)
def test_what_cannot_be_measured(fields, words):
    with pytest.raises(InputError, match=words):
        next(profile.measure(settings(**fields)))
