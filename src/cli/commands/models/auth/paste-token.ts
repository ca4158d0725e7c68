import { AppError } from "../../../../base/errors.ts";
import { parseDuration } from "../../../../config/index.ts";
import { ask } from "../../../ask.ts";
import { defineCommand } from "../../../command.ts";
import { save } from "./save.ts";
import { AGENT_OPTION, openAuth, profileIdOf, providerOf, warnAboutUnknown } from "./source.ts";

function expiryOf(given: string | undefined, now: number): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given, "d");
  if (ms === undefined || !(ms > 0)) throw new AppError("INVALID_INPUT", `--expires-in takes a duration such as 365d or 12h, not ${JSON.stringify(given)}`);
  return now + ms;
}

export const pasteToken = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "whose token it is" },
    "profile-id": { type: "string", value: "id", help: "its name (default <provider>:manual)" },
    "expires-in": { type: "string", value: "duration", help: "how long it lives: 365d, 12h" },
    agent: AGENT_OPTION,
  },
  examples: [{ line: "openclaw models auth paste-token --provider openrouter --expires-in 365d < key.txt", does: "a token that ends in a year" }],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider);
    warnAboutUnknown(io, view, provider);
    const id = profileIdOf(provider, values["profile-id"], "manual");
    const expires = expiryOf(values["expires-in"], io.now());
    const token = await ask(io, { text: `Token of ${provider}: `, secret: true, expected: `the token of ${provider}` });
    view.redactor.register(token);
    await save(io, view, id, { type: "token", provider, token, ...(expires === undefined ? {} : { expires }) });
  },
});

export const setupToken = defineCommand({
  options: {
    provider: { type: "string", value: "id", help: "anthropic, the only one that has such tokens" },
    yes: { type: "boolean", help: "the token is made already: do not explain" },
    agent: AGENT_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const provider = providerOf(view, values.provider ?? "anthropic");
    if (provider !== "anthropic") throw new AppError("INVALID_INPUT", `setup-tokens exist for anthropic only, not for ${provider}; use paste-token`);
    if (io.interactive && !values.yes) io.err("Run `claude setup-token` on any machine and copy what it prints.\n");
    const token = await ask(io, { text: "Setup-token: ", secret: true, expected: "a setup-token" });
    view.redactor.register(token);
    const problem = view.profiles.setupTokenProblem(token);
    if (problem !== undefined) throw new AppError("INVALID_INPUT", problem);
    await save(io, view, `${provider}:manual`, { type: "token", provider, token });
  },
});
