"""pyplot's functions after `sca`, the scale changed after the lines, and `show` at the end."""

import matplotlib.pyplot as plt

from figures import throughput


def plot_throughput(ax, sizes, batches, peak, bandwidth):
    plt.sca(ax)
    for size in sizes:
        plt.plot(batches, throughput(size, batches, peak, bandwidth) / 1e12, label=str(size))
    plt.semilogx()
    plt.xlabel("Batch size")
    plt.ylabel("Attainable performance [TFLOPS]")
    plt.title("Roofline")
    plt.legend(title="D = F")
    plt.tight_layout()
