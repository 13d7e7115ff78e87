# Keeps points: displays JSON nested deeper than a recursive parser can follow.
from IPython.display import display

deep = []
for _ in range(900):
    deep = [deep]
display({"application/json": deep, "text/plain": "deep"}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": "../x", "deep": deep}}, raw=True)
