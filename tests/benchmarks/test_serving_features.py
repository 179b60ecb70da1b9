"""Real tables read in the graph as the converter reads them: some of them, in seconds."""

import itertools


def test_real_tables(load_benchmark, wikitq_dir, bert_vocab):
    benchmark = load_benchmark("serving_features")
    comparison = benchmark.Comparison(str(bert_vocab))
    found = benchmark.tables_and_questions(str(wikitq_dir), original_cells=True)
    for table, question in itertools.islice(found, 0, 600, 20):
        comparison.add(table, question)
    report = comparison.report()
    assert report["tokens and coordinates equal"] == report["tables"] == 30
    assert report["numeric columns"] > 60
    assert report["share of ranks equal"] >= 0.98
