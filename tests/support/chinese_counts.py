"""Large counts as Chinese writes them, with the units 万 (10⁴) and 亿 (10⁸)."""

# (number, its power of ten, the count as Chinese writes it)
COUNTS = [
    ("8.03", 9, "80.3 亿"),
    ("17", 6, "1700 万"),
    ("250", 6, "2.50 亿"),
    ("1,234", 9, "1.234 万亿"),
    ("0.5", 6, "50 万"),
    ("0.001", 6, "1000"),
    ("1,234", 6, "12.34 亿"),
    ("1.2345", 6, "123.45 万"),
    ("60", 6, "6000 万"),
    ("100", 6, "1.00 亿"),
]
