"""Encodings are found out by few bytes, as small tables have them."""

import pytest

from mate_tf.errors import InputError
from mate_tf.tables.any_table import read_table

WESTERN = (
    "name,city\nJosé,München\nZoë,Köln\n",
    "name,dept\nZoë,“R&D”\nRenée,Côte d’Ivoire\n",
    "Name;Größe\nMüller;5 µm\nJäger;3 °C\n",
    "país,población\nEspaña,47\nPerú,33\nMéxico,126\n",
)
TEXTS = {
    "cp1252": (
        *WESTERN,
        "name,price\nTea,£5\nCoffee,€6\n",
        "name,city\nSmörgås,Malmö\n",
        "Menü,Preis\nKäse – groß,5 €\n",
        "nome,preço\nJoão,R$ 5\nConceição,R$ 7\n",
        "item,note\nTea,it’s “good” – really…\nCup,½ litre\n",
        "name\ntea\ncafé",
        "temp\n20 °C\n25 °C\n",
        "nom,prix\nCafé,5 €\n",
        "nimi,linn\nÕnne,Pärnu\n",
        "navn,by\nSøren,Århus\nÅse,Tromsø\n",
    ),
    "mac_roman": WESTERN,
    "cp1250": (
        "név,város\nŐrs,Győr\nFűzfő,Pécs\n",
        "imię,miasto\nŁukasz,Łódź\nStanisław,Gdańsk\n",
        "country,city\nČesko,Plzeň\nSlovensko,Košice\n",
        "nume,oraş\nŞtefan,Iaşi\nIoana,Braşov\n",
    ),
    "cp1251": (
        "name,v\nМосква,1\nКиев,2\nСанкт-Петербург,3\nНовосибирск,4\n",
        "Имя;Город;Зарплата\nИван;Москва;100\nОльга;Киев;200\n",
        "Название,Цена\nХлеб,50\nМолоко,80\n",
    ),
    "cp1253": ("όνομα,πόλη\nΓιώργος,Αθήνα\n",),
    "cp1254": ("ad,şehir\nİsmail,İzmir\nGüneş,Ağrı\n",),
    "shift_jis": (
        "名前,値\n東京,1\n大阪,2\n札幌と函館の町,3\n",
        "商品,価格\nりんご,100\nバナナ,80\n",
    ),
    "gb18030": ("姓名,值\n北京,1\n上海,2\n", "工资,城市\n张伟,上海市\n王芳,广州市\n"),
    "euc_kr": ("이름,값\n서울,1\n부산,2\n", "도시,인구\n서울특별시,950\n부산광역시,340\n"),
    "big5": ("商品,價格\n蘋果,100\n香蕉,80\n",),
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_texts(tmp_path, encoding):
    for number, text in enumerate(TEXTS[encoding]):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text.encode(encoding))
        table = read_table(path)
        lines = [list(table.columns), *map(list, table.rows)]
        mark = ";" if ";" in text else ","
        assert lines == [line.split(mark) for line in text.splitlines()]
        assert table.remarks[0].endswith("since it is not UTF-8 (if it is not, give --encoding)")


def test_bytes_that_are_not_a_text(tmp_path):
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"a,b\n\1\2\0\3\4\5,2\n")
    with pytest.raises(InputError, match=r"bytes\.csv: not a text file"):
        read_table(path)
