import type { AuthProfileCredential } from "../../../../protocol/index.ts";
import { maskSecret } from "../../../../base/redaction.ts";
import { editConfig } from "../../../config-edit.ts";
import { type Io, printJson } from "../../../io.ts";
import { type AuthView, AGENT_OPTION, openAuth, profileIdOf, providerOf, warnAboutUnknown } from "./source.ts";
import { ask } from "../../../ask.ts";
import { defineCommand, JSON_OPTION } from "../../../command.ts";
import { AppError } from "../../../../base/errors.ts";
import { parseDuration } from "../../../../config/index.ts";
import { nearest } from "../../../../base/text.ts";

function secretOf(credential: AuthProfileCredential): string {
  if (credential.type === "api_key") return credential.key ?? "";
  return credential.type === "token" ? credential.token : credential.access;
}

/** Stores a credential, names it in the configuration, and reports what that means for the order. The secret is shown masked. */
export async function save(io: Io, view: AuthView, id: string, credential: AuthProfileCredential): Promise<void> {
  const { auth, config, canonical } = view;
  const secret = secretOf(credential);
  view.redactor.register(secret);
  const replaced = (await auth.list()).some((profile) => profile.id === id);
  await auth.add(id, credential);
  const { provider, type, email } = credential;
  await editConfig(io, { kind: "set", path: ["auth", "profiles", id], value: { provider, mode: type, ...(email ? { email } : {}) } }, "cli models auth");
  io.out(`${replaced ? "Replaced" : "Saved"} ${id} (${type}, ${maskSecret(secret)}) in ${auth.storePath}\n`);
  const own = await auth.order(provider);
  const configured = Object.entries(config.auth?.order ?? {}).find(([name]) => canonical(name) === provider)?.[1];
  const order = own ?? configured;
  if (order && !order.includes(id)) {
    const where = own ? `openclaw models auth order set --provider ${provider} ${[...order, id].join(" ")}` : `add it to auth.order.${provider}`;
    io.err(`Not used yet: it is not in the profile order of ${provider}. To use it: ${where}\n`);
  }
}

export const add = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "Provider; asked for if missing" },
    "profile-id": { type: "string", value: "id", help: "Profile id (default <provider>:default)" },
    agent: AGENT_OPTION,
  },
  examples: [{ line: "openclaw models auth add --provider openai < key.txt", does: "Read the key from a file; in a terminal you are asked for it" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const asked = values.provider ?? (io.interactive ? await ask(io, { text: "Provider: ", expected: "the name of a provider" }) : undefined);
    const provider = providerOf(view, asked);
    warnAboutUnknown(io, view, provider);
    const id = profileIdOf(provider, values["profile-id"], "default");
    const key = await ask(io, { text: `API key for ${provider}: `, secret: true, expected: `the API key for ${provider}` });
    view.redactor.register(key);
    await save(io, view, id, { type: "api_key", provider, key });
  },
});

function expiryOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text, "d");
  if (ms === undefined || !(ms > 0)) throw new AppError("INVALID_INPUT", `--expires-in takes a duration such as 365d or 12h, not ${JSON.stringify(text)}`);
  return now + ms;
}

export const pasteToken = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "Provider" },
    "profile-id": { type: "string", value: "id", help: "Profile id (default <provider>:manual)" },
    "expires-in": { type: "string", value: "duration", help: "Lifetime, such as 365d or 12h" },
    agent: AGENT_OPTION,
  },
  examples: [{ line: "openclaw models auth paste-token --provider openrouter --expires-in 365d < key.txt", does: "Token that expires in a year" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    warnAboutUnknown(io, view, provider);
    const id = profileIdOf(provider, values["profile-id"], "manual");
    const expires = expiryOf(values["expires-in"], io.now());
    const token = await ask(io, { text: `Token for ${provider}: `, secret: true, expected: `the token for ${provider}` });
    view.redactor.register(token);
    await save(io, view, id, { type: "token", provider, token, ...(expires === undefined ? {} : { expires }) });
  },
});

export const setupToken = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "Provider; only anthropic has setup tokens" },
    yes: { type: "boolean", help: "Skip the instructions" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider ?? "anthropic");
    if (provider !== "anthropic") throw new AppError("INVALID_INPUT", `only anthropic has setup tokens, not ${provider}; use paste-token`);
    if (io.interactive && !values.yes) io.err("Run `claude setup-token` on any machine and copy what it prints.\n");
    const token = await ask(io, { text: "Setup-token: ", secret: true, expected: "a setup-token" });
    view.redactor.register(token);
    const problem = view.profiles.setupTokenProblem(token);
    if (problem !== undefined) throw new AppError("INVALID_INPUT", problem);
    await save(io, view, `${provider}:manual`, { type: "token", provider, token });
  },
});

const PROVIDER_OPTION = { type: "string", value: "id", help: "Provider" } as const;

export const orderGet = defineCommand({
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION, json: JSON_OPTION },
  examples: [{ line: "openclaw models auth order get --provider anthropic --json", does: "Print JSON" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    const order = (await view.auth.order(provider)) ?? null;
    const { agentId, agentDir, auth } = view;
    if (values.json) return printJson(io, { agentId, agentDir, provider, authStorePath: auth.storePath, order });
    io.out(order === null ? `No stored order for ${provider}: using auth.order or the automatic order\n` : order.map((id) => `${id}\n`).join(""));
    const next = (await auth.candidates(provider)).map(
      ({ id, why, cooldown }) => `  ${id} (${why}${cooldown && !why.includes("rests") ? `; cooling down after ${cooldown.kind}` : ""})\n`,
    );
    if (next.length > 0) io.out(`Current order:\n${next.join("")}`);
  },
});

export const orderSet = defineCommand({
  positionals: "<ids…>",
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION },
  examples: [],
  async run({ io, values, positionals }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    if (positionals.length === 0) throw new AppError("INVALID_INPUT", "expected profile ids in order; list them with: openclaw models auth status");
    const stored = (await view.auth.list()).filter((profile) => view.canonical(profile.provider) === provider).map(({ id }) => id);
    for (const id of positionals) {
      if (stored.includes(id)) continue;
      const close = nearest(id, stored);
      throw new AppError(
        "NOT_FOUND",
        `profile ${id} of ${provider} not found; ${close ? `did you mean ${close}?` : `stored are: ${stored.join(", ") || "none"}`}`,
      );
    }
    await view.auth.setOrder(provider, [...new Set(positionals)]);
    io.out(`${provider}: ${[...new Set(positionals)].join(", ")} (in ${view.auth.storePath})\n`);
  },
});

export const orderClear = defineCommand({
  options: { provider: PROVIDER_OPTION, agent: AGENT_OPTION },
  examples: [{ line: "openclaw models auth order clear --provider anthropic", does: "Restore auth.order or the automatic order" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    await view.auth.setOrder(provider, undefined);
    io.out(`Removed the stored order of ${provider} (in ${view.auth.storePath})\n`);
  },
});
