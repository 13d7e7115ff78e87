"""The usual figure with other axis labels.

The labels vary in language, units, prefixes and mistakes.
"""

from .base import register_words

BATCH = "batch (tokens)"
RATE = "attainable (FLOP/s)"
TERA, GIGA = 1e12, 1e9

# (name, x label, y label, size of the plotted values' unit in FLOP/s)
RIGHT = [
    ("right_chinese_labels", "批量大小", "可达性能FLOP/s", 1),
    ("right_cyrillic_words", "размер пакета B", "достижимая производительность, TFLOP/s", TERA),
    ("right_flops_in_capitals", "B", "attainable FLOPS", 1),
    ("right_french_labels", "Taille du lot (batch)", "Débit atteignable (GFLOP/s)", GIGA),
    ("right_german_labels", "Batchgröße (Zeilen)", "Erreichbare Leistung in TFLOP/s", TERA),
    ("right_japanese_labels", "バッチサイズ (B)", "達成可能な演算性能 [GFLOP/秒]", GIGA),
    ("right_peak_in_label", BATCH, "attainable FLOP/s (of 197 TFLOP/s)", 1),
    ("right_per_second_in_words", "tokens multiplied at a time", "FLOPs per second", 1),
    ("right_power_of_ten", "$B$", "attainable [10^12 FLOP/s]", TERA),
    ("right_tera_with_s", BATCH, "TFLOPs", TERA),
    ("right_tex_power", "rows of X", r"attainable ($\times 10^{12}$ FLOP/s)", TERA),
    ("right_tex_unit", "batch size $B$", r"$\mathrm{TFLOP \cdot s^{-1}}$", TERA),
    ("right_top_speed", BATCH, "Top speed (FLOP/s)", 1),
]

# Each of these says what the question does not ask for, or says it in other words.
# (name, problem that the check must name, x label, y label, size of the values' unit in FLOP/s)
WRONG = [
    ("wrong_batch_in_other_words", "figure-batch", "Taille du lot", RATE, 1),
    ("wrong_bytes_per_second", "figure-unit", BATCH, "attainable (bytes/s)", 1),
    ("wrong_count_label", "figure-rate", BATCH, "FLOP", 1),
    ("wrong_count_of_flops", "figure-rate", BATCH, "FLOPs", 1),
    ("wrong_cyrillic_unit", "figure-unit", BATCH, "достижимая производительность, ТФЛОП/с", TERA),
    ("wrong_intensity_label", "figure-rate", BATCH, "intensity (FLOP/byte)", 1),
    ("wrong_intensity_on_x", "figure-batch", "arithmetic intensity (FLOP/byte)", RATE, 1),
    ("wrong_kilo", None, BATCH, "GFLOP/s", TERA),
    ("wrong_log_label", "figure-unit", "batch", "log10 of bytes", 1),
    ("wrong_many_flop", "figure-rate", BATCH, "TFLOP", 1),
    ("wrong_no_unit", "figure-unit", BATCH, "attainable throughput", 1),
    ("wrong_number_of_flops", "figure-rate", BATCH, "number of FLOPs", 1),
    ("wrong_per_step", "figure-rate", BATCH, "FLOP/step", 1),
    ("wrong_per_token", "figure-rate", BATCH, "FLOP per token", 1),
    ("wrong_size_on_x", "figure-batch", "D = F", RATE, 1),
    ("wrong_tera_operations", "figure-unit", BATCH, "throughput in TOP/s", TERA),
    ("wrong_time_in_chinese", "figure-batch", "时间", RATE, 1),
    ("wrong_time_label", "figure-batch", "time (s)", RATE, 1),
    ("wrong_time_per_batch", "figure-batch", "time per batch (ms)", RATE, 1),
    ("wrong_trillion", None, BATCH, "trillion FLOP/s", TERA),
    ("wrong_words_for_the_unit", "figure-unit", BATCH, "opérations par seconde", 1),
    ("wrong_x", "figure-batch", "x", RATE, 1),
]

for _name, *_labels in RIGHT:
    register_words(_name, None, *_labels)
for _name, *_labels in WRONG:
    register_words(_name, *_labels)
