"""Text by a model of Transformers with random weights: the same tokens as eager's, attention and rotations computed by Gyre."""
import gyre.transformers
import torch
import transformers

torch.manual_seed(0)
config = transformers.Qwen3Config(vocab_size=256, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8,
                                  num_key_value_heads=2, head_dim=64)
model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
prompt = torch.tensor([list(b"Once upon a time")])                # a byte is a token here; a real model has its tokenizer


def generate():
    return model.generate(prompt, max_new_tokens=32, do_sample=False)[0, prompt.shape[1]:].tolist()


eager = generate()
gyre.transformers.enable()
model.set_attn_implementation("gyre")
print(gyre.transformers.enable_rotary(model))
mine = generate()
print(mine)
print(gyre.transformers.calls(), "attention calls and", gyre.transformers.rotary_calls(), "rotations were taken over")
assert mine == eager
