"""How curves are drawn: color, style, width, markers, and invisible curves."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from .base import draw, right, throughput, wrong


@right
def right_areas(ax, sizes, batches, peak, bandwidth):
    """Draw lines and the area below them; the legend shows the areas."""
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=f"C{number}")
        ax.fill_between(batches, rates, color=f"C{number}", alpha=0.3, label=f"{size:,}")
    ax.legend(title="D = F")
    ax.set(xlabel="batch (rows)", ylabel="attainable FLOP/s", ylim=(0, None))


@right
def right_colormap(ax, sizes, batches, peak, bandwidth):
    """Take colors from a colormap, set the dashes, and write sizes as 4,096 in TeX."""
    shades = plt.colormaps["viridis"](np.linspace(0, 0.8, len(sizes)))
    for size, shade in zip(sizes, shades, strict=True):
        rates = throughput(size, batches, peak, bandwidth) / 1e12
        name = f"$D = F = {size:,}$".replace(",", "{,}")
        ax.plot(batches, rates, color=shade, dashes=(5, 2), label=name)
    ax.legend()
    ax.set(xlabel="$B$ (tokens)", ylabel=r"attainable $\left(\mathrm{TFLOP/s}\right)$")


@right
def right_dark(ax, sizes, batches, peak, bandwidth):
    """Draw in white, yellow and cyan on black."""
    ax.figure.set_facecolor("black")
    ax.set_facecolor("black")
    for size, color in zip(sizes, ("white", "yellow", "cyan"), strict=False):
        ax.plot(batches, throughput(size, batches, peak, bandwidth), color=color, label=size)
    ax.legend(facecolor="black", labelcolor="white")
    ax.set_xlabel("batch (tokens)", color="white")
    ax.set_ylabel("attainable (FLOP/s)", color="white")
    ax.tick_params(colors="white")


@right
def right_error_bars(ax, sizes, batches, peak, bandwidth):
    """Draw lines with error bars of no height."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.errorbar(batches, rates, yerr=0, errorevery=20, capsize=2, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_first_curves_wide(ax, sizes, batches, peak, bandwidth):
    """Draw two lines for each size, a narrow one on a wide pale one; name each size once."""
    for size, color in zip(sizes, ("C0", "C1", "C2"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=color, linewidth=6, alpha=0.3)
        ax.plot(batches, rates, color=color, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_halo(ax, sizes, batches, peak, bandwidth):
    """Draw a white line under each curve, and shade the area below."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.fill_between(batches, rates, alpha=0.1)
        ax.plot(batches, rates, color="white", linewidth=4)
        ax.plot(batches, rates, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-empty")
def wrong_line_collection(ax, sizes, batches, peak, bandwidth):
    """Add a LineCollection of short segments for each curve."""
    for size, color in zip(sizes, ("C0", "C1", "C2"), strict=False):
        points = np.column_stack([batches, throughput(size, batches, peak, bandwidth)])
        pieces = np.stack([points[:-1], points[1:]], axis=1)
        ax.add_collection(LineCollection(pieces, colors=color, label=f"{size}"))
    ax.autoscale()
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_line_objects(ax, sizes, batches, peak, bandwidth):
    """Add Line2D objects to the axes, and autoscale afterwards."""
    lines = []
    for number, size in enumerate(sizes):
        rates = throughput(size, batches, peak, bandwidth)
        lines.append(Line2D(batches, rates, color=f"C{number}", linestyle="-."))
        ax.add_line(lines[-1])
    ax.relim()
    ax.autoscale_view()
    ax.legend(handles=lines, labels=[f"width {size}" for size in sizes], frameon=False)
    ax.xaxis.set_label_text("batch size B")
    ax.yaxis.set_label_text("performance (flop/s)")


@right
def right_line_styles(ax, sizes, batches, peak, bandwidth):
    """Distinguish black curves by their line style."""
    for size, style in zip(sizes, ("-", "--", ":"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, style, color="black", label=str(size))
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_marked_ceiling(ax, sizes, batches, peak, bandwidth):
    """Mark the batch at which each curve reaches the ceiling."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        (line,) = ax.plot(batches, rates, label=f"D = F = {size}")
        at = np.argmax(rates >= 0.999 * rates.max())
        ax.plot(batches[at], rates[at], "o", color=line.get_color())
        ax.axvline(batches[at], color=line.get_color(), linestyle=":")
        ax.text(batches[at], peak / 2, f"B = {batches[at]}", rotation=90)
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_markers(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves of one color and style by their markers."""
    for size, marker in zip(sizes, "os^", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="navy", marker=marker, markevery=25, label=f"{size:,}")
    ax.legend(title="D = F", markerscale=2)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_points(ax, sizes, batches, peak, bandwidth):
    """Draw points without lines."""
    for size, marker in zip(sizes, "ox+", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.scatter(batches, rates, s=4, marker=marker, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_shades(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves by their opacity alone."""
    for size, alpha in zip(sizes, (1, 0.5, 0.2), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C0", alpha=alpha, label=f"D={size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-range")
def wrong_steps_and_dots(ax, sizes, batches, peak, bandwidth):
    """Draw gray steps, and dots in one shape for each size."""
    for size, shape in zip(sizes, "osD^v", strict=False):
        rates = [float(throughput(size, b, peak, bandwidth)) for b in batches]
        ax.step(batches, rates, where="mid", color="0.5")
        ax.scatter(batches[::16], rates[::16], marker=shape, color="0.2", label=f"n = {size}")
        ax.plot(batches, rates, linestyle="", marker=shape, color="0.2", markersize=2)
    ax.legend(title="n × n")
    ax.set(xlabel="batch size", ylabel="GFLOP/s", title="attainable")
    ax.yaxis.set_major_formatter(lambda y, _: f"{y / 1e9:,.0f}")


@right
def right_style_sheet(ax, sizes, batches, peak, bandwidth):
    """Look like the style sheet ggplot, on gray."""
    ax.set_facecolor("#E5E5E5")
    ax.grid(color="white")
    for size, color in zip(sizes, ("#E24A33", "#348ABD", "#988ED5"), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=color, label=f"D = F = {size}", zorder=3)
    ax.legend(frameon=False)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_widths(ax, sizes, batches, peak, bandwidth):
    """Distinguish curves by their width."""
    for size, width in zip(sorted(sizes), (1, 2.5, 6), strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color="C3", linewidth=width, label=f"D={size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@right
def right_with_peak(ax, sizes, batches, peak, bandwidth):
    """Draw the peak as a line with a legend entry that names no size."""
    ax.plot(batches, [peak] * len(batches), color="gray", label="peak")
    draw(ax, sizes, batches, peak, bandwidth)


@wrong("figure-alike")
def wrong_alike(ax, **case):
    """Draw all curves in one color and style."""
    draw(ax, **case, color="C0")


@wrong("figure-alike")
def wrong_almost_alike(ax, sizes, batches, peak, bandwidth):
    """Draw curves in blues too close to tell apart."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, color=(0.1, 0.2, 0.8 + size / 1e6), label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-empty")
def wrong_areas_alone(ax, sizes, batches, peak, bandwidth):
    """Stack areas on top of each other."""
    rates = [throughput(size, batches, peak, bandwidth) for size in sizes]
    ax.stackplot(batches, *rates, labels=[f"D = F = {size}" for size in sizes])
    ax.set(xlabel="batch (tokens)", ylabel="attainable FLOP/s")
    ax.legend()


@wrong("figure-empty")
def wrong_bars(ax, sizes, batches, peak, bandwidth):
    """Draw one bar for each size."""
    heights = [throughput(size, batches, peak, bandwidth)[-1] for size in sizes]
    ax.bar([str(size) for size in sizes], heights)
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-empty")
def wrong_lines_across(ax, sizes, batches, peak, bandwidth):
    """Draw a horizontal line at the last value of each size."""
    for size in sizes:
        ax.axhline(throughput(size, batches, peak, bandwidth)[-1], label=str(size))
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-unseen")
def wrong_faint(ax, **case):
    """Draw almost white curves on white."""
    draw(ax, **case, color="whitesmoke")


@wrong("figure-unseen")
def wrong_no_line(ax, **case):
    """Draw neither lines nor markers."""
    draw(ax, **case, linestyle="none")


@wrong("figure-unseen")
def wrong_no_width(ax, **case):
    """Draw lines of width 0."""
    draw(ax, **case, linewidth=0)


@wrong("figure-unseen")
def wrong_one_of_two(ax, sizes, batches, peak, bandwidth):
    """Draw the smallest size fully transparent."""
    for size in sizes:
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, alpha=0 if size == min(sizes) else 1, label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")


@wrong("figure-unseen")
def wrong_thin(ax, **case):
    """Draw lines thinner than any screen can show."""
    draw(ax, **case, linewidth=0.01)


@wrong("figure-unseen")
def wrong_transparent(ax, **case):
    """Draw curves with an opacity of 0."""
    draw(ax, **case, alpha=0)


@wrong("figure-unseen")
def wrong_white(ax, **case):
    """Draw white curves on white."""
    draw(ax, **case, color="white")


@wrong("figure-unseen")
def wrong_white_points(ax, sizes, batches, peak, bandwidth):
    """Draw white points on white, without lines."""
    for size, shape in zip(sizes, "osD^v", strict=False):
        rates = throughput(size, batches, peak, bandwidth)
        ax.plot(batches, rates, shape, color="white", label=f"D = F = {size}")
    ax.legend()
    ax.set(xlabel="batch (tokens)", ylabel="attainable (FLOP/s)")
