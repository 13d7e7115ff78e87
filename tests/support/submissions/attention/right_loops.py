"""Head by head and sequence by sequence; the sequences are put beside the weights one by one."""


def operations(B, T, S, N, H):
    total = 0
    for _ in range(B):
        for _ in range(N):
            scores = 2 * T * H * S
            result = 2 * T * S * H
            total += scores + result
    return total


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    total = 0
    for _ in range(B):
        total += sum(2 * T * H * q_bytes for _ in range(N))
        total += sum(2 * S * H * kv_bytes for _ in range(K))
    return total


def decode_limit(N, K, kv_bytes):
    return decode_intensity(1, 10**12, N, K, 128, 2, kv_bytes)  # noqa: F821


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    each = sum(2 * K * H * kv_bytes * S for _ in range(layers))
    found, held = 0, weights + each
    while held <= capacity:
        found += 1
        held += each
    return found
