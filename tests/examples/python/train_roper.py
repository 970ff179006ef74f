"""RoPER, trained: each token is to tell how far back the last 0 stands, which only relative positions say."""
import gyre.torch
import torch

torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self, tokens=4, d_model=64, answers=16):
        super().__init__()
        self.embedding = torch.nn.Embedding(tokens, d_model)
        self.attention = gyre.torch.RotaryValueMultiHeadAttention(4, d_model, rope_percentage=1.0, rope_value_percentage=1.0)
        self.answer = torch.nn.Sequential(torch.nn.Linear(d_model, 128), torch.nn.ReLU(), torch.nn.Linear(128, answers))

    def forward(self, ids):                                       # [seqlen, batch]
        x = self.embedding(ids)
        return self.answer(x + self.attention(query=x, key=x, value=x, causal=True))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
losses = []
for step in range(150):
    ids = torch.randint(4, (48, 32))
    ids[0] = 0
    since = torch.arange(48)[:, None] - (ids.eq(0) * torch.arange(48)[:, None]).cummax(0).values
    loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), since.clamp(max=15).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 50 == 49:
        print(f"step {step + 1}: loss {loss.item():.3f}")
assert sum(losses[-10:]) < sum(losses[:10]) / 2
