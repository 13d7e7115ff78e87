"""Messages about known misconceptions, and where to read more.

They never reveal the answer. A misconception may occur in several exercises; its message is defined
once, by its key.
"""

from collections.abc import Callable

from grading.schema.messages import N_
from grading.schema.parts import Misconception

# Titles of the chapters to read.
TIME = "“Where does the time go?”"
INTENSITY = "“Arithmetic intensity”"
PLOTS = "“Roofline plots”"
MATMUL = "“Matrix multiplication”"
QUANTIZATION = f"{MATMUL}, “Quantization: fewer bytes, or faster arithmetic”"
CHIPS = "“Many chips”"
ATTENTION = "“Attention”"
MACHINE = "“Your own machine”"
OWN_MODEL = "“Your own model”"
CATALOG = "“The hardware catalog”"

MESSAGES: dict[str, tuple[str, str]] = {
    # counting operations
    "multiply-add-once": (
        N_("A multiply-add is counted as one operation; it is a multiplication and an addition."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "one-addition-less": (
        N_(
            "The first product of each sum is not added here. The question starts from an empty "
            "accumulator, as a matrix unit does, so every product is also added."
        ),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "batch-left-out": (
        N_("This is the work for a single row of the batch."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "batch-twice": (
        N_("Every row is multiplied by every row's matrix here; row b meets matrix b only."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "contraction-left-out": (
        N_(
            "Each output element is counted as one multiply-add, but it is a sum of products over "
            "the contraction dimension."
        ),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "a-factor-of-two": (
        N_(
            "A factor of two is missing, as if a multiply-add were one operation, or an int8 "
            "element two bytes."
        ),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "half-the-intensity": (
        N_(
            "Half of the limit: either a multiply-add is counted as one operation, or the bytes "
            "twice."
        ),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "operations-or-peak": (
        N_(
            "This comes out if a multiply-add is taken as one operation, or the peak as twice as "
            "high. A multiply-add is two, and the arithmetic is in bf16."
        ),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    # counting bytes
    "output-not-counted": (
        N_("The output is not counted: what has been computed must also be written back."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "activations-not-counted": (
        N_("Only the weights are counted; the exact count includes the input and the output."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "weights-not-counted": (
        N_("The weights are not counted: they too are loaded from HBM."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "weights-for-each-row": (
        N_("The weights are loaded again for each row of the batch; here all rows share them."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "one-matrix-for-all": (
        N_(
            "The batch is left out of the weights: they are counted as one matrix that all rows "
            "share."
        ),
        N_("the question: the shape of the weights"),
    ),
    "two-bytes-for-int8": (
        N_("Elements in int8 are counted as two bytes each, as if they were bf16."),
        QUANTIZATION,
    ),
    "bf16-weights": (
        N_("The weights are counted as bf16; in this question they are stored in int8."),
        QUANTIZATION,
    ),
    "all-in-int8": (
        N_("All three operands are counted as int8; only the weights are."),
        QUANTIZATION,
    ),
    "widths-swapped": (
        N_(
            "The widths are swapped: input and output are counted as int8, and the weights as bf16."
        ),
        QUANTIZATION,
    ),
    "input-in-int8": (
        N_("The input is counted as int8; only the weights are."),
        QUANTIZATION,
    ),
    "output-in-int8": (
        N_("The output is counted as int8; only the weights are."),
        QUANTIZATION,
    ),
    "bits-for-bytes": (
        N_("Bits are taken for bytes."),
        f"{CATALOG}, “Common misreadings”",
    ),
    "swapped": (
        N_("The two values of the pair are the right ones in the wrong order."),
        N_("the docstring of the function: what it returns"),
    ),
    # intensity and critical batch
    "upside-down": (
        N_("The ratio is upside down."),
        f"{INTENSITY}, “What a byte brings”",
    ),
    "limit-for-exact": (
        N_(
            "This is the limit for a small batch; the question asks for the exact value, in which "
            "the activations count too."
        ),
        f"{MATMUL}, “The intensity, exactly and for small B”",
    ),
    "large-limit-for-exact": (
        N_("This is the limit for large matrices; the question asks for the exact value."),
        f"{MATMUL}, “The intensity, exactly and for small B”",
    ),
    "exact-for-limit": (
        N_("This is the exact value; the question asks for what it comes close to."),
        f"{MATMUL}, “The intensity, exactly and for small B”",
    ),
    "large-batch-limit": (
        N_("This is what a very large batch comes close to; the question is about a small one."),
        f"{MATMUL}, “The intensity, exactly and for small B”",
    ),
    "ridge-itself": (
        N_(
            "This is the chip's critical intensity itself. A factor lies between it and the batch: "
            "look at the operations that a row costs for each weight, at the bytes of a weight, "
            "and at the peak."
        ),
        f"{MATMUL}, “The critical batch”",
    ),
    "gained-twice": (
        N_(
            "A factor of two too many: either the gain from int8 weights is counted twice, or a "
            "multiply-add as more than two operations, or the peak is not the one handed in."
        ),
        f"{MATMUL}, “The critical batch”",
    ),
    "shared-weights": (
        N_("This grows with the batch, as it does when all rows share one matrix."),
        N_("the question: the shape of the weights"),
    ),
    "width-left-out": (
        N_("The width of an element is left out: fewer bytes for each element change the ratio."),
        f"{INTENSITY}, “What a byte brings”",
    ),
    "width-upside-down": (
        N_("Wider elements make it larger here; but wider elements are more bytes to move."),
        f"{INTENSITY}, “What a byte brings”",
    ),
    "no-infinity": (
        N_(
            "For some sizes this gives a negative number, or fails: there no batch is enough, and "
            "the question says what to return then."
        ),
        f"{MATMUL}, “The exact critical batch as D and F shrink”",
    ),
    "int8-arithmetic": (
        N_(
            "The arithmetic is taken to run at twice the peak; it stays in bf16, only the storage "
            "of the weights changes."
        ),
        QUANTIZATION,
    ),
    "always-two": (
        N_(
            "This is the best that can happen, whatever the sizes; the question asks for the value "
            "at the given ones."
        ),
        QUANTIZATION,
    ),
    "no-ceiling": (
        N_("Traffic alone decides here; above the critical batch the arithmetic takes longer."),
        f"{PLOTS}, “How to read one”",
    ),
    "always-at-peak": (
        N_(
            "This is the ceiling at every batch; below the critical batch the traffic takes longer."
        ),
        f"{PLOTS}, “How to read one”",
    ),
    "larger-of-the-two": (
        N_(
            "The larger of the two rates is taken here; the chip gets over neither of its two "
            "limits."
        ),
        f"{PLOTS}, “How to read one”",
    ),
    "straight-line": (
        N_("The curve is taken as a straight line up to the ceiling; input and output bend it."),
        f"{MATMUL}, “The intensity, exactly and for small B”",
    ),
    "time-for-rate": (
        N_("This is a time in seconds; the question asks for operations per second."),
        f"{PLOTS}, “How to read one”",
    ),
    "share-of-the-peak": (
        N_("This is a share of the peak; the question asks for operations per second."),
        f"{PLOTS}, “How to read one”",
    ),
    "no-overlap": (
        N_("The two times are added; with perfect overlap the longer one decides."),
        f"{TIME}, “How do the times add up?”",
    ),
    "one-time-twice": (
        N_(
            "Twice the lower bound is only a limit for the upper one: take the sum of the two "
            "times."
        ),
        f"{TIME}, “How do the times add up?”",
    ),
    "the-two-times": (
        N_(
            "These are the two times themselves, in order; the upper bound is not the longer of "
            "them."
        ),
        f"{TIME}, “How do the times add up?”",
    ),
    "shorter-of-the-two": (
        N_("The lower bound is the shorter of the two times here; both have to be over."),
        f"{TIME}, “How do the times add up?”",
    ),
    "milliseconds": (
        N_("The unit is off by a power of ten: the question asks for seconds."),
        f"{TIME}, “Time to compute”",
    ),
    "ratio-of-sides": (
        N_("This compares the sides of the matrices; the question asks for their batches."),
        f"{MATMUL}, “The exact critical batch as D and F shrink”",
    ),
    "no-delay": (
        N_(
            "One and the same batch is what both sizes have in the small-batch limit; compare "
            "their exact ones."
        ),
        f"{MATMUL}, “The exact critical batch as D and F shrink”",
    ),
    "twice": (
        N_("This is twice, whatever the sizes; the question asks for the value at the given ones."),
        f"{MATMUL}, “The exact critical batch as D and F shrink”",
    ),
    "difference": (
        N_("This is the difference of the two batches; the question asks how many times as large."),
        N_("the question"),
    ),
    "increase": (
        N_("This is by how much the batch is larger; the question asks how many times as large."),
        N_("the question"),
    ),
    "one-side-twice": (
        N_("The weights are taken as square, with D on both sides; the question gives D and F."),
        N_("the question"),
    ),
    # chips and data sheets
    "the-others": (
        N_("These are the chips on which it can't be: the comparison is the wrong way round."),
        f"{INTENSITY}, “The chip has such a number too”",
    ),
    "all-chips": (
        N_(
            "All chips are named, whichever are handed in; for some of them the intensity is not "
            "enough, however large the batch."
        ),
        f"{INTENSITY}, “The chip has such a number too”",
    ),
    "no-chips": (
        N_("No chip is ever named; for some of the chips handed in the intensity is enough."),
        f"{INTENSITY}, “The chip has such a number too”",
    ),
    "sparse-for-dense": (
        N_(
            "A peak with structured sparsity is taken as it is printed; a dense matrix has no "
            "zeros to skip."
        ),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "always-halved": (
        N_("Every peak is halved, also one that is printed as dense."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "doubled": (
        N_("The peak of the sheet is doubled; sparsity is in the printed figure already."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "condition-turned-round": (
        N_(
            "A figure is halved where it should not be, and not where it should: the condition is "
            "the wrong way round."
        ),
        N_("the question"),
    ),
    "both-ways-doubled": (
        N_("The figure for both directions is doubled; it is the sum of the two already."),
        f"{CATALOG}, “Links: one way, per link and in total”",
    ),
    "prefixes-swapped": (
        N_("The two prefixes are taken for one another."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "prefix-ignored": (
        N_("The prefix of the unit is ignored: the figure is taken as it is printed."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "one-prefix-for-all": (
        N_("One prefix is used for every figure; the sheet prints several."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "binary-prefix": (
        N_("The prefix is taken as a power of two; here prefixes are powers of ten."),
        f"{CATALOG}, “From the sheet to the catalog”",
    ),
    "both-ways": (
        N_("Both directions of a link are counted; the question asks for one way."),
        f"{CATALOG}, “Links: one way, per link and in total”",
    ),
    "int8-weights": (
        N_(
            "This is the critical batch with weights of one byte, or with a multiply-add counted "
            "as more than two operations; here everything is bf16."
        ),
        f"{MATMUL}, “The critical batch”",
    ),
    "sequences-for-tokens": (
        N_("Sequences are taken for tokens: each token of a sequence is a row of the matmul."),
        f"{MATMUL}, “Tokens, not sequences, and per replica”",
    ),
    "sum-for-product": (
        N_("The number of sequences and their length are added; each sequence has that length."),
        f"{MATMUL}, “Tokens, not sequences, and per replica”",
    ),
    "shared-among-chips": (
        N_("The tokens are shared among the chips on the sheets; each replica has its own."),
        f"{MATMUL}, “Tokens, not sequences, and per replica”",
    ),
    "length-alone": (
        N_("The tokens of one sequence are compared; a replica has several sequences."),
        f"{MATMUL}, “Tokens, not sequences, and per replica”",
    ),
    # attention
    "half-the-operations": (
        N_(
            "Half of the operations are missing: there are two multiplications, with the keys and "
            "with the values, and a multiply-add is two operations."
        ),
        f"{ATTENTION}, “Count it”",
    ),
    "no-later-position": (
        N_(
            "Pairs of a query and a later position are left out, as under a causal mask; here "
            "every query meets every position."
        ),
        f"{ATTENTION}, “Who is multiplied with whom”",
    ),
    "one-head": (
        N_("This is the work of a single head of queries."),
        f"{ATTENTION}, “Who is multiplied with whom”",
    ),
    "one-sequence": (
        N_("This is what a single sequence of the batch takes."),
        N_("the question: how many sequences there are"),
    ),
    "every-position-asks": (
        N_("As many queries are counted as there are positions with a key; there are fewer."),
        f"{ATTENTION}, “Who is multiplied with whom”",
    ),
    "queries-alone-meet": (
        N_("As many keys are counted as there are queries; the context has more positions."),
        f"{ATTENTION}, “Who is multiplied with whom”",
    ),
    "values-not-counted": (
        N_("Only the keys are counted, or only the values; both are kept and loaded."),
        f"{ATTENTION}, “Count it”",
    ),
    "operations-counted-twice": (
        N_("The operations are counted twice."),
        f"{ATTENTION}, “Count it”",
    ),
    "cache-counted-twice": (
        N_("The bytes of keys and values are counted twice."),
        f"{ATTENTION}, “Count it”",
    ),
    "cache-alone": (
        N_(
            "Keys and values alone are counted; the exact count includes the queries and the "
            "result."
        ),
        f"{ATTENTION}, “Count it”",
    ),
    "heads-not-shared": (
        N_("Keys and values are counted for each head of queries; several of these share one."),
        f"{ATTENTION}, “Grouped heads, and a cache in one byte”",
    ),
    "scores-moved": (
        N_(
            "Scores and probabilities are counted as written and read; in a fused kernel they "
            "never leave the chip."
        ),
        f"{ATTENTION}, “What writing the scores costs”",
    ),
    "scores-not-moved": (
        N_(
            "Scores and probabilities are counted as if they stayed on the chip, also where the "
            "kernel writes and reads them."
        ),
        f"{ATTENTION}, “What writing the scores costs”",
    ),
    "scores-in-one-byte": (
        N_(
            "Scores and probabilities are counted without the width of an element; theirs is that "
            "of all other arrays."
        ),
        f"{ATTENTION}, “What writing the scores costs”",
    ),
    "scores-always-moved": (
        N_(
            "Scores and probabilities are counted as written and read also where the kernel is "
            "fused."
        ),
        f"{ATTENTION}, “What writing the scores costs”",
    ),
    "one-cache-for-all": (
        N_(
            "One cache is counted for the whole batch, as if its sequences shared it like weights; "
            "each has its own."
        ),
        f"{ATTENTION}, “Decode: one query at a time”",
    ),
    "one-width-for-all": (
        N_(
            "All elements are counted with the width of the queries; the cache has a width of its "
            "own."
        ),
        f"{ATTENTION}, “Grouped heads, and a cache in one byte”",
    ),
    "cache-width-swapped": (
        N_(
            "The two widths are taken for one another: that of queries and result, and that of "
            "keys and values."
        ),
        f"{ATTENTION}, “Grouped heads, and a cache in one byte”",
    ),
    "prefill-for-decode": (
        N_(
            "Every position of the cache has a query here, as in prefill; in decode each sequence "
            "has only one."
        ),
        f"{ATTENTION}, “Decode: one query at a time”",
    ),
    "one-position-loaded": (
        N_("The keys and values of a single position are loaded; the query meets all of them."),
        f"{ATTENTION}, “Decode: one query at a time”",
    ),
    "long-context-for-exact": (
        N_("This is what a long context comes close to; the question asks for the exact value."),
        f"{ATTENTION}, “Decode: one query at a time”",
    ),
    "group-alone": (
        N_(
            "This is the size of a group of heads; the FLOPs of a pair and the width of an element "
            "belong to it too."
        ),
        f"{ATTENTION}, “Grouped heads, and a cache in one byte”",
    ),
    "group-upside-down": (
        N_("More heads of keys make it larger here; but each of them is more to load."),
        f"{ATTENTION}, “Grouped heads, and a cache in one byte”",
    ),
    "ridge-for-length": (
        N_(
            "This is the chip's ratio of peak and bandwidth itself; how the intensity depends on "
            "the length is missing."
        ),
        f"{ATTENTION}, “Prefill: all queries at once”",
    ),
    "weights-take-no-room": (
        N_("The cache gets all of the capacity here; the weights need room on the chip too."),
        f"{ATTENTION}, “How many sequences fit”",
    ),
    "one-layer": (
        N_("This is the cache of a single layer; each layer keeps keys and values of its own."),
        f"{ATTENTION}, “How many sequences fit”",
    ),
    "positions-for-sequences": (
        N_("Positions are counted here; the question asks for whole sequences of them."),
        N_("the question"),
    ),
    "not-whole": (
        N_("This is not a whole number, and only a whole one can be meant."),
        N_("the question"),
    ),
    "rounded-up": (
        N_("The number is rounded up; for the last one there is not room enough."),
        N_("the question"),
    ),
    "exact-fit-left-out": (
        N_("Where the last sequence fills the memory to its last byte, it is left out; it fits."),
        N_("the question"),
    ),
    "below-zero": (
        N_(
            "Where the weights alone need too much, this is below zero; the question says what to "
            "return then."
        ),
        N_("the question"),
    ),
    "below-zero-cut": (
        N_(
            "A negative number is cut off toward zero where the weights alone need too much; the "
            "question says what to return then."
        ),
        N_("the question"),
    ),
    "cache-not-counted": (
        N_("The weights alone are loaded here; the cache must be loaded in each step as well."),
        f"{ATTENTION}, “A step of a whole model”",
    ),
    # many chips on a ring
    "one-lap": (
        N_(
            "Only one of the two laps is counted: the ring adds up in one and hands out in the "
            "other."
        ),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "as-for-two": (
        N_("Each chip sends as much as each of a pair does; with more chips it is more."),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "a-piece-to-itself": (
        N_(
            "A step too much is counted in each lap: a piece need not be sent to the chip where it "
            "starts."
        ),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "whole-array-each-step": (
        N_("The whole array is sent in each step; a chip passes one piece of it at a time."),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "whole-array-to-each": (
        N_("Each chip sends the whole array to every other; a ring passes pieces to the neighbor."),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "all-chips-together": (
        N_(
            "The bytes of all chips are added up; the chips send at the same time, each over its "
            "own link."
        ),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "links-together": (
        N_(
            "One message is shared among the links of all chips; each chip sends its bytes over "
            "its own link."
        ),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "sums-in-one-byte": (
        N_("An element of the partial sums is taken as one byte; they are sent in bf16."),
        f"{CHIPS}, “Half the arithmetic, and something to send”",
    ),
    "longer-network": (
        N_("The network takes longer here than it takes to send sums in bf16 around twice."),
        f"{CHIPS}, “Half the arithmetic, and something to send”",
    ),
    "product-counted-more": (
        N_("A product and its addition are counted as more than two operations."),
        f"{MATMUL}, “Count the FLOPs and the bytes”",
    ),
    "laps-apart": (
        N_("Delays are counted for more laps than bytes; both go around as often."),
        f"{CHIPS}, “When a message is short”",
    ),
    "writes-shared": (
        N_(
            "All bytes of HBM are divided among the chips; each chip still writes partial sums of "
            "the whole output."
        ),
        f"{CHIPS}, “Three roofs at once”",
    ),
    "hbm-in-one-byte": (
        N_("An element in HBM is taken as one byte; all of them are bf16."),
        f"{CHIPS}, “Three roofs at once”",
    ),
    "one-step-a-lap": (
        N_("One piece is sent in each lap; a lap has several steps, with a piece in each."),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "arithmetic-not-shared": (
        N_("The arithmetic is that of the whole multiplication; each chip does its share of it."),
        f"{CHIPS}, “Half the arithmetic, and something to send”",
    ),
    "sums-in-parts": (
        N_("Partial sums are taken for a part of the output; each chip has them for all of it."),
        f"{CHIPS}, “Two chips, each with half of D”",
    ),
    "everything-sent": (
        N_("All arrays are sent over the link; only the partial sums must be."),
        f"{CHIPS}, “Half the arithmetic, and something to send”",
    ),
    "rounded-down": (
        N_("The quotient is rounded down; at that width the network still takes longer."),
        f"{CHIPS}, “Where the link keeps up”",
    ),
    "past-the-tie": (
        N_(
            "Where the quotient is a whole number, this is one more: at that width both times are "
            "equal, so the network does not take longer."
        ),
        N_("the question"),
    ),
    "width-for-a-pair": (
        N_("This is the width for a pair, however many chips are handed in."),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "width-of-a-part": (
        N_(
            "This comes out for the width of one chip's part, or if each chip does all of the "
            "arithmetic; the whole width is asked for, and the chips share the work."
        ),
        f"{CHIPS}, “N chips on a ring”",
    ),
    "as-many-times": (
        N_(
            "This is the number of chips, the best that could be; the question asks for the value "
            "at the given sizes."
        ),
        f"{CHIPS}, “Three roofs at once”",
    ),
    "network-left-out": (
        N_(
            "The network never decides here; partial sums must be sent before anybody has the "
            "output."
        ),
        f"{CHIPS}, “Three roofs at once”",
    ),
    "hbm-left-out": (
        N_("HBM never decides here; with few tokens it takes longer than anything else."),
        f"{CHIPS}, “Three roofs at once”",
    ),
    "delay-left-out": (
        N_("The delays are left out; every message has one."),
        f"{CHIPS}, “When a message is short”",
    ),
    "one-delay": (
        N_(
            "The delay is counted once for the whole all-reduce; every message of a chip waits for "
            "the one before it."
        ),
        f"{CHIPS}, “When a message is short”",
    ),
    "longer-of-the-two": (
        N_(
            "The longer of the two is taken, the delays or the bytes; a message takes both, one "
            "after the other."
        ),
        f"{CHIPS}, “When a message is short”",
    ),
    "one-message": (
        N_(
            "This is the size of a single message, or the delay of a single step against the whole "
            "array; the array is sent in pieces."
        ),
        f"{CHIPS}, “When a message is short”",
    ),
    "array-sent-once": (
        N_(
            "The delays of all steps are set against a single journey of the whole array; each "
            "chip sends another number of bytes than it has."
        ),
        f"{CHIPS}, “When a message is short”",
    ),
    # diagnosis of measured times
    "line-in-chips": (
        N_(
            "The line is drawn over the number of chips; the shared part of a time is not "
            "proportional to that number, it shrinks as chips are added."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "rates-on-a-line": (
        N_(
            "The line is drawn through the rates; the parts of a step add up as times, not as "
            "rates."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "rate-of-each-chip": (
        N_("The rate is taken as that of each chip; it is that of all chips together."),
        N_("the question"),
    ),
    "above-perfect-scaling": (
        N_(
            "This is by how much the step on more chips exceeds perfect scaling; the step on fewer "
            "chips has a fixed part, too."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "shared-part": (
        N_(
            "This is the part that the chips share; the question asks for the part that they don't."
        ),
        N_("the question"),
    ),
    "roof-of-memory-always": (
        N_(
            "The longest time is named also where less was measured than the memory needs: those "
            "bytes did not come from there."
        ),
        f"{MACHINE}, “Stairs of memory”",
    ),
    "traffic-left-out": (
        N_(
            "Only the needed bytes are counted; a program that walks over an array again moves "
            "more."
        ),
        f"{MACHINE}, “Every dot”",
    ),
    "overhead-left-out": (
        N_("The overhead is left out; where there is little work in each call, it takes longest."),
        f"{MACHINE}, “Measure it”",
    ),
    "two-roofs-alone": (
        N_(
            "Only arithmetic and needed bytes are compared; the measured time, the overhead and "
            "the bytes that the program really moves have a say, too."
        ),
        f"{MACHINE}, “Every dot”",
    ),
    "extra-traffic-first": (
        N_(
            "Every program that moves more than the needed bytes is explained by that; it is the "
            "cause only where it takes longest."
        ),
        f"{TIME}, “How do the times add up?”",
    ),
    "shortest-time": (
        N_("The shortest of the times is taken; with perfect overlap the longest one decides."),
        f"{TIME}, “How do the times add up?”",
    ),
    "counts-without-rates": (
        N_("Operations are compared with bytes; only the times that they take can be compared."),
        f"{INTENSITY}, “The chip has such a number too”",
    ),
    "every-change": (
        N_(
            "Every experiment that changes a size is named; one tells only if the two suspects "
            "predict different times."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "one-suspect-alone": (
        N_(
            "Only the prediction of the first suspect is looked at; the other may predict the same."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "any-prediction-changes": (
        N_(
            "An experiment is named as soon as one suspect predicts another time than before; if "
            "the other predicts the same, it tells nothing."
        ),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "cannot-tell": (
        N_(
            "These are the experiments in which both suspects predict the same or nearly so: the "
            "comparison is the wrong way round."
        ),
        N_("the question"),
    ),
    "overhead-of-each-row": (
        N_("The overhead grows with the rows here; one call takes all rows, however many."),
        f"{MACHINE}, “The squares that lie too low”",
    ),
    "next-roof-forgotten": (
        N_(
            "This is what the changed quantity alone gains; another time may be longest after the "
            "fix, or may have been before."
        ),
        f"{TIME}, “How do the times add up?”",
    ),
    "times-added": (
        N_("The times are added; with perfect overlap the longest one decides."),
        f"{TIME}, “How do the times add up?”",
    ),
    "saved-share": (
        N_(
            "This is the share of the time that is saved; the question asks how many times as fast."
        ),
        N_("the question"),
    ),
    "no-bytes-left": (
        N_("No bytes are left after fusing; those that are needed still have to be moved."),
        f"{MACHINE}, “Every dot”",
    ),
    "one-way-always-halved": (
        N_("Every link is halved, also one that is printed one way."),
        f"{CATALOG}, “Links: one way, per link and in total”",
    ),
    "link-of-the-draft": (
        N_("The link is still that of the draft, whose line has two mistakes."),
        f"{CATALOG}, “Common misreadings”",
    ),
    "as-in-the-draft": (
        N_("These are the values of the draft: none of its mistakes is repaired."),
        N_("the question: the draft"),
    ),
    # a mixture of experts
    "all-experts-per-token": (
        N_(
            "A token is taken through all routed experts; it passes only through those that the "
            "router picks for it."
        ),
        f"{OWN_MODEL}, “From a file to a model”",
    ),
    "two-matrices-an-expert": (
        N_("An expert is counted with two matrices; a gated one has a third: gate, up and down."),
        N_("the question: the matrices of an expert"),
    ),
    "shared-experts-left-out": (
        N_(
            "The shared experts are left out; every token takes them, beside those that the router "
            "picks."
        ),
        N_("the question: the matrices of an expert"),
    ),
    "router-left-out": (
        N_(
            "The router is left out; it is a matrix as well, and every token is multiplied with it."
        ),
        N_("the question: the router"),
    ),
    "head-width-from-the-model": (
        N_(
            "The width of the model is shared out among the heads; the file gives the width of a "
            "head by itself."
        ),
        N_("the question: the keys of the file"),
    ),
    "dense-width": (
        N_("An expert is taken to be as wide as a dense MLP; the file has a width for each."),
        N_("the question: the keys of the file"),
    ),
    "layers-left-out": (
        N_("Attention, router and experts of a single layer are counted; every layer has its own."),
        N_("the question: the keys of the file"),
    ),
    "embedding-multiplied": (
        N_(
            "The embedding table is among the weights that a token is multiplied with; a token "
            "only looks up its row there."
        ),
        f"{OWN_MODEL}, “From a file to a model”",
    ),
    "output-matrix-left-out": (
        N_(
            "The output matrix is missing among the weights that a token is multiplied with; it "
            "makes the logits."
        ),
        f"{OWN_MODEL}, “From a file to a model”",
    ),
    "tables-left-out": (
        N_("The tables are left out of both counts; they are weights, too."),
        f"{OWN_MODEL}, “From a file to a model”",
    ),
    "tied-table-twice": (
        N_("Two tables are counted also where the file says that one serves for both."),
        N_("the question: the tables"),
    ),
    "norms-counted": (
        N_("The gains of norms are counted; the question leaves them out."),
        N_("the question"),
    ),
    "cache-as-wide-as-the-model": (
        N_(
            "Keys and values are taken to be as wide as the model; the file gives heads, and how "
            "wide one is."
        ),
        N_("the question: the keys of the file"),
    ),
    "elements-for-bytes": (
        N_("Elements are counted; the question asks for bytes."),
        N_("the question"),
    ),
    "all-experts-loaded": (
        N_("All routed experts are loaded here, whatever the batch; a small one takes only some."),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "experts-of-one-token": (
        N_(
            "The experts of a single token are loaded here, whatever the batch; other tokens take "
            "others."
        ),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "no-expert-shared": (
        N_(
            "Tokens are taken to avoid each other's experts as long as they can; without "
            "favorites, some take the same."
        ),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "loaded-for-each-token": (
        N_(
            "An expert is loaded again for each token that takes it; in a step, one loading serves "
            "them all."
        ),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "drawn-with-replacement": (
        N_(
            "The experts of a token are drawn as if it could take the same one twice; they are "
            "distinct."
        ),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "whole-file-loaded": (
        N_(
            "All weights of the file are loaded here; experts that no token takes are not, and of "
            "the embedding table next to nothing is."
        ),
        f"{OWN_MODEL}, “The batch that experts need”",
    ),
    "embedding-loaded": (
        N_(
            "The whole embedding table is loaded here; a step looks up a row for each sequence, "
            "and the question leaves those out."
        ),
        N_("the question"),
    ),
    "attention-arithmetic-counted": (
        N_(
            "The arithmetic of queries with keys and values is counted; the question leaves it out."
        ),
        N_("the question"),
    ),
    "dense-batch": (
        N_("This is the batch of a dense layer; an expert sees only some of the tokens."),
        f"{OWN_MODEL}, “From how many tokens on do experts compute?”",
    ),
    "smaller-batch": (
        N_("The batch gets smaller here because a token takes few of the experts; it has to grow."),
        f"{OWN_MODEL}, “From how many tokens on do experts compute?”",
    ),
    "one-expert-a-token": (
        N_("This is the batch if each token took a single expert."),
        f"{OWN_MODEL}, “From how many tokens on do experts compute?”",
    ),
    "shared-among-routed": (
        N_(
            "The shared experts are counted among the routed ones; the question is about the "
            "routed ones alone."
        ),
        N_("the question"),
    ),
    "two-bytes-a-weight": (
        N_("Weights are taken as two bytes each, whatever their width."),
        N_("the question"),
    ),
    "time-for-tokens": (
        N_(
            "The times of a step are compared; where the batch is larger, a step also writes more "
            "tokens."
        ),
        N_("the question"),
    ),
    "changed-alone": (
        N_(
            "This is by how much the changed quantity itself gets better; it may be only one of "
            "several that take time."
        ),
        f"{OWN_MODEL}, “What would help, and what would not”",
    ),
    "experts-of-the-old-batch": (
        N_(
            "A larger batch loads as many experts as the old one here; more tokens take more of "
            "them."
        ),
        f"{OWN_MODEL}, “What would help, and what would not”",
    ),
}


def wrong(key: str, answer: Callable[..., object], excluded_by: str = "") -> Misconception:
    """Return the misconception with this key.

    answer: computes what the misconception leads to in one part.
    """
    says, read = MESSAGES[key]
    return Misconception(key, says, read, answer, excluded_by)
