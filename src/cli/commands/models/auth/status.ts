import { formatDuration } from "../../../../base/text.ts";
import type { MethodResult } from "../../../../protocol/index.ts";
import { tryGateway } from "../../../gateway-call.ts";
import { findTarget } from "../../../gateway-target.ts";
import { type Io, printJson } from "../../../io.ts";
import { openAuth, type AuthView, AGENT_OPTION } from "./source.ts";
import { defineCommand, JSON_OPTION } from "../../../command.ts";
import { createStyle } from "../../../output/style.ts";
import { formatTable } from "../../../output/table.ts";

type RestRow = MethodResult<"models.rests.list">["rests"][number];

interface RestsWish {
  /** All agents when absent. */
  readonly agent?: string | undefined;
  readonly provider?: string | undefined;
  /** One credential. */
  readonly id?: string | undefined;
}

const PATIENCE_MS = 5_000;

interface Found {
  readonly rests: readonly RestRow[];
  /** Only a running gateway knows of rests after passing trouble. */
  readonly asked: "gateway" | "files";
}

/** What rests now: as the running gateway knows it, else as the files say. */
async function findRests(io: Io, wish: RestsWish): Promise<Found> {
  const params = { ...(wish.agent === undefined ? {} : { agentId: wish.agent }), ...(wish.provider === undefined ? {} : { provider: wish.provider }) };
  const found = await askGateway(io, async (client) => (await client.request("models.rests.list", params)).rests);
  if (found) return { rests: found, asked: "gateway" };
  const rests = await ofAgents(io, wish.agent, async ({ auth, agentId, canonical }) =>
    (await auth.cooldowns())
      .filter(({ provider }) => wish.provider === undefined || (provider !== undefined && canonical(provider) === canonical(wish.provider)))
      .map((rest): RestRow => ({ agentId, ...rest })),
  );
  return { rests, asked: "files" };
}

/** Ends rests, in the running gateway where there is one; its files are this command's otherwise. */
async function clearRests(io: Io, { agent, provider, id }: RestsWish): Promise<Found> {
  const which = { ...(provider === undefined ? {} : { provider }), ...(id === undefined ? {} : { id }) };
  const params = { ...which, ...(agent === undefined ? {} : { agentId: agent }) };
  const found = await askGateway(io, async (client) => (await client.request("models.rests.clear", params)).cleared);
  if (found) return { rests: found, asked: "gateway" };
  const rests = await ofAgents(io, agent, async ({ auth, agentId }) => (await auth.clearCooldowns(which)).map((rest): RestRow => ({ agentId, ...rest })));
  return { rests, asked: "files" };
}

type Client = Parameters<Parameters<typeof tryGateway>[3]>[0];

async function askGateway<T>(io: Io, ask: (client: Client) => Promise<T>): Promise<T | undefined> {
  try {
    const target = await findTarget(io, {});
    // Without a process on this state folder no gateway can be asked; files of another machine are not available.
    if (target.kind === "local" && target.holder === undefined) return undefined;
    return (await tryGateway(io, target, PATIENCE_MS, ask)).value;
  } catch {
    return undefined;
  }
}

/** Runs `look` for one agent, or for the main one and all that the configuration names. */
async function ofAgents(io: Io, agent: string | undefined, look: (view: AuthView) => Promise<readonly RestRow[]>): Promise<readonly RestRow[]> {
  const first = await openAuth(io, agent);
  const views = [first];
  if (agent === undefined) for (const { id } of first.config.agents?.list ?? []) if (id !== "main") views.push(await openAuth(io, id));
  const rows = await Promise.all(views.map(look));
  // Agents share the profiles of the main one, and with them what rests.
  const seen = new Set<string>();
  return rows.flat().filter(({ id, modelId, kind, until }) => {
    const key = JSON.stringify([id, modelId, kind, until]);
    return !seen.has(key) && seen.add(key);
  });
}

const WHY: Readonly<Record<string, string>> = {
  auth: "rejected by the provider",
  billing: "no credit left",
  rate_limit: "rate limit",
  format: "requests refused as malformed",
  timeout: "provider failing",
  overloaded: "provider overloaded",
  network: "provider unreachable",
  cooldown: "set by another program",
};

/** One line for a table: credential, agent, model, until when, why. */
function restLine({ id, agentId, modelId, kind, until, reason }: RestRow, now: number): readonly string[] {
  const why = `${WHY[kind] ?? kind}${reason === undefined ? "" : `: ${reason}`}`;
  const clock = new Date(until).toISOString().slice(0, 19).replace("T", " ");
  return [id, agentId, modelId ?? "all models", `${clock}Z (${formatDuration(Math.max(0, until - now))})`, why];
}

type Profile = Awaited<ReturnType<AuthView["auth"]["list"]>>[number];

function stateOf({ unusable, rests, expires, type }: Profile, now: number): string {
  if (unusable !== undefined) return unusable;
  if (rests.length > 0) {
    return rests.map(({ kind, until, modelId }) => `${modelId ?? "all models"} cooling down for ${formatDuration(until - now)} after ${kind}`).join("; ");
  }
  if (expires === undefined) return "ok";
  if (expires <= now) return "expired; renewed on next use";
  return `ok, ${type === "oauth" ? "renews" : "expires"} in ${formatDuration(expires - now)}`;
}

function print(io: Io, view: AuthView, profiles: readonly Profile[], rests: readonly RestRow[]): void {
  const style = createStyle(io.color);
  io.out(`${style.dim(`agent ${view.agentId}, ${view.auth.storePath}`)}\n`);
  if (profiles.length === 0) io.out(io.runnable("No stored credentials. Add one with: openclaw models auth add --provider <id>\n"));
  else printProfiles(io, style, profiles);
  if (rests.length === 0) return io.out("No cooldowns: every credential can be used.\n");
  io.out(io.runnable("\nCooling down after failures. Clear with: openclaw models auth clear\n"));
  const rows = rests.map((rest) => restLine(rest, io.now()));
  io.out(formatTable(["Credential", "Agent", "Model", "Until", "Why"], rows, { style, columns: io.columns }));
}

function printProfiles(io: Io, style: ReturnType<typeof createStyle>, profiles: readonly Profile[]): void {
  const rows = profiles.map((profile) => [profile.id, profile.type, profile.masked, profile.from, stateOf(profile, io.now())]);
  io.out(formatTable(["Profile", "Kind", "Secret", "Of", "State"], rows, { style, columns: io.columns, whole: true }));
}

export const status = defineCommand({
  options: { provider: { type: "string", value: "id", help: "Only this provider" }, agent: AGENT_OPTION, json: JSON_OPTION },
  examples: [
    { line: "openclaw models auth status", does: "Stored credentials, masked, and cooldowns" },
    { line: "openclaw models auth status --json", does: "Print JSON" },
  ],
  async run({ io, values }) {
    const view = await openAuth(io, values.agent);
    const wanted = values.provider === undefined ? undefined : view.canonical(values.provider);
    const profiles = (await view.auth.list()).filter(({ provider }) => wanted === undefined || view.canonical(provider) === wanted);
    const { rests, asked } = await findRests(io, { agent: values.agent, provider: values.provider });
    if (values.json) printJson(io, { agentId: view.agentId, agentDir: view.agentDir, authStorePath: view.auth.storePath, profiles, rests, asked });
    else print(io, view, profiles, rests);
  },
});

export const clear = defineCommand({
  positionals: "[id]",
  options: {
    provider: { type: "string", value: "id", help: "Only this provider" },
    agent: { ...AGENT_OPTION, help: "Agent (default: all agents)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw models auth clear", does: "Clear all cooldowns" },
    { line: "openclaw models auth clear --provider openai", does: "Clear the cooldowns of one provider" },
  ],
  async run({ io, values, positionals: [id] }) {
    const { rests, asked } = await clearRests(io, { agent: values.agent, provider: values.provider, id });
    if (values.json) return printJson(io, { cleared: rests, asked });
    if (rests.length === 0) io.out("No cooldowns\n");
    for (const rest of rests) {
      const [name, , model, , why] = restLine(rest, io.now());
      io.out(`Cleared the cooldown of ${name} for ${model} (${why})\n`);
    }
  },
});
