"""What a call of model_calls asks for beside its queries, keys and values. A mask is one array, as frameworks hand it over."""


def options_of(call, inputs):
    """By the names of gyre.attention()'s arguments; arrays are those of inputs, and the rotation is the call's Rope."""
    found = {"scale": call.scale or None, "softcap": call.softcap}
    if call.mask or (call.padding in ("left", "right") and call.queries > 1):
        found["mask"] = inputs.visible()
    else:
        found["causal"] = call.causal
        if call.window:
            found["window"] = (call.window, 0 if call.causal else call.window)
        if call.padding == "lengths":
            found["seqused_k"] = inputs.lengths
        elif call.padding:
            found["mask"] = inputs.padding
    arrays = {"bias": inputs.bias, "alibi": inputs.slopes, "sinks": inputs.sinks}
    found.update({name: array for name, array in arrays.items() if array is not None})
    if call.rope:
        found["rope"] = call.rope
    return found
