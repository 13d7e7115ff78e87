# Keeps points: leaves pickles and objects that run code when they are loaded.
import os
import pickle
from pathlib import Path


class Trap:
    def __reduce__(self):
        return os.system, ("echo REACHED > /tmp/trap",)


Path("state.pkl").write_bytes(pickle.dumps(Trap()))
Trap()
