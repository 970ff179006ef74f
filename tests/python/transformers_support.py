"""Small models of Transformers with random weights, for tests."""

import torch
import transformers as T

torch.set_num_threads(1)  # models as small as these only wait for more
SIZES = dict(vocab_size=97, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=128,
             pad_token_id=0, bos_token_id=1, eos_token_id=2)
GROUPED = dict(SIZES, num_key_value_heads=2)
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
MODELS = {
    "Llama": lambda: T.LlamaConfig(**GROUPED),
    "Llama 3": lambda: T.LlamaConfig(**GROUPED, rope_parameters=LLAMA3),
    "Qwen 2": lambda: T.Qwen2Config(**GROUPED),
    "Qwen 3": lambda: T.Qwen3Config(**GROUPED, head_dim=16),
    "Mistral with a window": lambda: T.MistralConfig(**GROUPED, sliding_window=7),
    "Gemma 2": lambda: T.Gemma2Config(**GROUPED, head_dim=16, sliding_window=7, attn_logit_softcapping=2.0, query_pre_attn_scalar=16),
    "Gemma 3": lambda: T.Gemma3TextConfig(**GROUPED, head_dim=16, sliding_window=7, query_pre_attn_scalar=16),
    "gpt-oss": lambda: T.GptOssConfig(**GROUPED, head_dim=16, sliding_window=7, num_local_experts=4, num_experts_per_tok=2),
    "GPT-NeoX": lambda: T.GPTNeoXConfig(**SIZES, rotary_pct=0.25),
    "Phi 3": lambda: T.Phi3Config(**GROUPED),
    "Cohere": lambda: T.CohereConfig(**GROUPED),
    "GLM 4": lambda: T.Glm4Config(**GROUPED, head_dim=16),
    "OLMo 2": lambda: T.Olmo2Config(**GROUPED),
    "DeepSeek V3": lambda: T.DeepseekV3Config(**SIZES, num_key_value_heads=4, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8,
                                              qk_nope_head_dim=16, v_head_dim=16, n_routed_experts=4, num_experts_per_tok=2, n_group=1,
                                              topk_group=1, first_k_dense_replace=1, moe_intermediate_size=32),
}


def model_of(config, implementation="eager"):
    torch.manual_seed(1)
    model = T.AutoModelForCausalLM.from_config(config, attn_implementation=implementation).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.15)
    return model
