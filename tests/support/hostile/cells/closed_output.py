# either: closes the streams that everything is printed to.
import sys

sys.stdout.close()
sys.stderr.close()
sys.stdout = sys.stderr = None
