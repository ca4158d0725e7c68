import { formatDuration } from "../../../../base/text.ts";
import type { MethodResult } from "../../../../protocol/index.ts";
import { tryGateway } from "../../../gateway-call.ts";
import { findTarget } from "../../../gateway-target.ts";
import type { Io } from "../../../io.ts";
import { openAuth, type AuthView } from "./source.ts";

export type RestRow = MethodResult<"models.rests.list">["rests"][number];

export interface RestsWish {
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
export async function findRests(io: Io, wish: RestsWish): Promise<Found> {
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
export async function clearRests(io: Io, { agent, provider, id }: RestsWish): Promise<Found> {
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
    // Without a process on this state folder there is nobody to ask; files of another machine are not at hand.
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
export function restLine({ id, agentId, modelId, kind, until, reason }: RestRow, now: number): readonly string[] {
  const why = `${WHY[kind] ?? kind}${reason === undefined ? "" : `: ${reason}`}`;
  const clock = new Date(until).toISOString().slice(0, 19).replace("T", " ");
  return [id, agentId, modelId ?? "all models", `${clock}Z (${formatDuration(Math.max(0, until - now))})`, why];
}
