import { AppError } from "../../../../base/errors.ts";
import { nearest } from "../../../../base/text.ts";
import { defineCommand, JSON_OPTION } from "../../../command.ts";
import { printJson } from "../../../io.ts";
import { AGENT_OPTION, openAuth, providerOf } from "./source.ts";

const PROVIDER_OPTION = { type: "string", value: "id", help: "whose profiles" } as const;

export const orderGet = defineCommand({
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION, json: JSON_OPTION },
  examples: [{ line: "openclaw models auth order get --provider anthropic --json", does: "for machines" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    const order = (await view.auth.order(provider)) ?? null;
    const { agentId, agentDir, auth } = view;
    if (values.json) return printJson(io, { agentId, agentDir, provider, authStorePath: auth.storePath, order });
    io.out(order === null ? `no order of its own: auth.order or the automatic one serves ${provider}\n` : order.map((id) => `${id}\n`).join(""));
    const next = (await auth.candidates(provider)).map(
      ({ id, why, cooldown }) => `  ${id} (${why}${cooldown && !why.includes("rests") ? `; rests after ${cooldown.kind}` : ""})\n`,
    );
    if (next.length > 0) io.out(`tried in this order now:\n${next.join("")}`);
  },
});

export const orderSet = defineCommand({
  positionals: "<ids…>",
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION },
  examples: [],
  async run({ io, values, positionals }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    if (positionals.length === 0)
      throw new AppError("INVALID_INPUT", "expected profile ids, the first to be tried first; openclaw models auth status lists them");
    const stored = (await view.auth.list()).filter((profile) => view.canonical(profile.provider) === provider).map(({ id }) => id);
    for (const id of positionals) {
      if (stored.includes(id)) continue;
      const close = nearest(id, stored);
      throw new AppError(
        "NOT_FOUND",
        `there is no profile ${id} of ${provider}; ${close ? `did you mean ${close}?` : `stored are: ${stored.join(", ") || "none"}`}`,
      );
    }
    await view.auth.setOrder(provider, [...new Set(positionals)]);
    io.out(`${provider}: ${[...new Set(positionals)].join(", ")} (in ${view.auth.storePath})\n`);
  },
});

export const orderClear = defineCommand({
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION },
  examples: [{ line: "openclaw models auth order clear --provider anthropic", does: "back to auth.order, or the automatic order" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    await view.auth.setOrder(provider, undefined);
    io.out(`${provider} has no order of its own any more (in ${view.auth.storePath})\n`);
  },
});
