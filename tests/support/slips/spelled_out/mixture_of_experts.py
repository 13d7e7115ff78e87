"""Answers to exercise 9 with a variable for each quantity; see `slips`."""


def parameters(config):
    layers = config["num_hidden_layers"]  # layers-left-out
    D = config["hidden_size"]  #
    heads = config["num_attention_heads"] + config["num_key_value_heads"]  # heads-not-shared
    router = D * config["n_routed_experts"]  # router-left-out
    matrices = 3  # two-matrices-an-expert
    expert = matrices * D * config["moe_intermediate_size"]  # two-matrices-an-expert, dense-width
    attention = 2 * D * config["head_dim"] * heads  #
    shared = config["n_shared_experts"] * expert  # shared-experts-left-out
    routed = config["n_routed_experts"] * expert  #
    taken = config["num_experts_per_tok"] * expert  # all-experts-per-token
    table = config["vocab_size"] * D  # tables-left-out
    tables = 1 if config["tie_word_embeddings"] else 2  # tied-table-twice
    common = attention + router + shared  # router-left-out, shared-experts-left-out
    whole = layers * (common + routed) + tables * table  #
    token = layers * (common + taken) + table  # output-matrix-left-out, all-experts-per-token
    return whole, token  # swapped


def cache_per_position(config, kv_bytes):
    kept = 2  # values-not-counted, bits-for-bytes
    heads = config["num_key_value_heads"]  # heads-not-shared
    elements = kept * heads * config["head_dim"]  # values-not-counted
    each_layer = elements * kv_bytes  # elements-for-bytes, one-layer
    return config["num_hidden_layers"] * each_layer  # one-layer


def step_time(config, B, S, width, kv_bytes, peak, bandwidth):
    in_all, of_token = parameters(config)  #
    flops = 2 * of_token  # multiply-add-once
    share = config["num_experts_per_tok"] / config["n_routed_experts"]  #
    missed = (1 - share) ** B  # experts-of-one-token
    matrix = config["hidden_size"] * config["moe_intermediate_size"]  #
    routed = config["num_hidden_layers"] * config["n_routed_experts"] * 3 * matrix  #
    idle = missed * routed  # all-experts-loaded
    ends = 1 if config["tie_word_embeddings"] else 2  # embedding-loaded
    embedding = (ends - 1) * config["vocab_size"] * config["hidden_size"]  # embedding-loaded
    weights = width * (in_all - embedding - idle)  # all-experts-loaded, embedding-loaded
    cache = S * cache_per_position(config, kv_bytes)  # cache-not-counted
    caches = B * cache  # one-cache-for-all, cache-not-counted
    compute = B * flops / peak  # multiply-add-once
    memory = (weights + caches) / bandwidth  # cache-not-counted, one-cache-for-all
    return max(compute, memory)  # no-overlap, shorter-of-the-two


def critical_batch(config, width, peak, bandwidth):
    per_weight = 2  # multiply-add-once
    ridge = peak / bandwidth  #
    tokens_of_each = ridge * width / per_weight  # multiply-add-once, two-bytes-a-weight
    experts = config["n_routed_experts"]  #
    taken = config["num_experts_per_tok"]  # one-expert-a-token
    share = taken / experts  # smaller-batch, one-expert-a-token
    return tokens_of_each / share  # smaller-batch, dense-batch, two-bytes-a-weight


def gains(config, B, S, width, kv_bytes, peak, bandwidth, changes):
    now = {"B": B, "S": S, "width": width, "kv_bytes": kv_bytes}  #
    chip = {"peak": peak, "bandwidth": bandwidth}  #
    before = step_time(config, **now, **chip)  #
    found = {}
    for name, change in changes.items():
        then = {**now, **chip, **change}  #
        tokens = then["B"]  # time-for-tokens
        after = step_time(config, **then)  #
        more = tokens / B  # time-for-tokens
        found[name] = more * before / after  # upside-down, time-for-tokens
    return found
