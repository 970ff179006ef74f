/// gyre::MultiHeadAttention from an installed gyre: with identities for weights and one token, what goes in comes out.
#include <gyre/multi_head_attention.h>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
    gyre::MultiHeadAttentionOptions options;
    options.heads = 2;
    options.d_model = 32;
    gyre::MultiHeadAttention attention(options);
    for (const gyre::Parameter &p : attention.parameters())
        if (p.shape.size() == 2)
            for (std::size_t i = 0; i < 32; i++) p.values[i * 33] = 1;
    std::vector<float> x(32, 0.5f), out(32);
    const gyre::Context context;
    const gyre_tensor token = gyre::view(x, {1, 1, 32});
    attention.forward(context, token, token, token, gyre::view(out, {1, 1, 32}));
    for (float value : out)
        if (!(std::abs(value - 0.5f) < 1e-6f)) return 1;
    std::cout << "gyre::MultiHeadAttention, " << context.selected_kernel() << "\n";
    return 0;
}
