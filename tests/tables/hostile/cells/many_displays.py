# Keeps points: makes fifty thousand separate displays.
from IPython.display import Markdown, display

for number in range(50_000):
    display(Markdown(f"<b>{number}</b>"))
