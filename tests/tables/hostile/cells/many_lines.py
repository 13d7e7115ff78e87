# Keeps points: prints ten million lines.
for number in range(10_000_000):
    print(number)
