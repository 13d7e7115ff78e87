# Keeps points: prints one line of 200 MB.
print("x" * 200_000_000)
