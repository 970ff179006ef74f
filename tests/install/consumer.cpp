/// RoPER attention from C++, through gyre.hpp: a value at its own position comes back as it was.
#include <gyre/gyre.hpp>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
    std::vector<float> q(2 * 64, 0.5f), k(q), v(q), out(q.size());
    gyre::Rope rope;
    gyre::AttentionArgs args;
    args.q = gyre::view(q, {1, 1, 2, 64});
    args.k = gyre::view(k, {1, 1, 2, 64});
    args.v = gyre::view(v, {1, 1, 2, 64});
    args.out = gyre::view(out, {1, 1, 2, 64});
    args.rope = &rope;
    args.value_rope = &rope;
    try {
        const gyre::Context context;
        gyre::attention(context, args);
        std::cout << "gyre " << gyre_version() << ", " << context.selected_kernel() << "\n";
    } catch (const gyre::Error &error) {
        std::cout << error.what() << "\n";
        return 1;
    }
    for (float value : out)
        if (!(std::abs(value - 0.5f) < 1e-6f)) return 1;

    args.v.rank = 7; // and a mistake is an exception that says what is wrong
    try {
        gyre::attention(nullptr, args);
        return 1;
    } catch (const gyre::Error &error) {
        return error.status() == GYRE_BAD_SHAPE ? 0 : 1;
    }
}
