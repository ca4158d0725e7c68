import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../base/clock.ts";
import { AppError } from "../../../../base/errors.ts";
import { createIds } from "../../../../base/ids.ts";
import { createLogger } from "../../../../base/log/logger.ts";
import { systemRandom } from "../../../../base/random.ts";
import { createRedactor, type Redactor } from "../../../../base/redaction.ts";
import { nearest } from "../../../../base/text.ts";
import { agentFolder, formatLocated, mainAgentFolder, oauthFolder, type OpenClawConfig, type PathContext } from "../../../../config/index.ts";
import { loadChoice, loadProfiles } from "../../../../models/index.ts";
import { loadFor, requireValid } from "../../../config-source.ts";
import type { Io } from "../../../io.ts";

type Profiles = Awaited<ReturnType<typeof loadProfiles>>;

/** Credentials as a command sees them. */
export interface AuthView {
  readonly profiles: Profiles;
  readonly auth: ReturnType<Profiles["createAuthProfiles"]>;
  readonly config: OpenClawConfig;
  readonly env: Io["env"];
  readonly agentDir: string;
  readonly agentId: string;
  readonly redactor: Redactor;
  readonly canonical: (provider: string) => string;
  /** Providers that are built in or configured; plugins may bring more. */
  readonly knownProviders: readonly string[];
}

export const AGENT_OPTION = { type: "string", value: "id", help: "Agent (default: the main agent)" } as const;

function agentOf(config: OpenClawConfig, wanted: string): { readonly id: string; readonly agentDir?: string | undefined } {
  const agents = config.agents?.list ?? [];
  const id = wanted.trim().toLowerCase();
  const found = agents.find((agent) => agent.id.trim().toLowerCase() === id);
  if (found) return found;
  if (id === "main") return { id };
  const close = nearest(id, ["main", ...agents.map((agent) => agent.id)]);
  throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(wanted)}; ${close === undefined ? "agents.list names them" : `did you mean ${close}?`}`);
}

/** Opens an agent's credentials. Warnings about the files go to the error output. */
export async function openAuth(io: Io, agent: string | undefined): Promise<AuthView> {
  const [profiles, choice] = await Promise.all([loadProfiles(), loadChoice()]);
  const { snapshot, env } = loadFor(io);
  requireValid(snapshot, formatLocated);
  const { config } = snapshot;
  const context: PathContext = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  const mainAgentDir = mainAgentFolder(context);
  const chosen = agent === undefined ? undefined : agentOf(config, agent);
  const agentDir = chosen === undefined || (chosen.id === "main" && chosen.agentDir === undefined) ? mainAgentDir : agentFolder(context, chosen);
  const redactor = createRedactor();
  const sink = { write: ({ message }: { readonly message: string }) => io.err(`${message}\n`), flush: () => Promise.resolve() };
  const auth = profiles.createAuthProfiles({
    agentDir,
    mainAgentDir,
    config: () => config,
    env: () => env,
    clock: systemClock,
    ids: createIds(systemRandom),
    log: createLogger({ clock: systemClock, redactor, outputs: [{ sink, level: "info" }] }),
    redactor,
    envNames: choice.keyVariables,
    canonical: choice.canonicalProvider,
    oauthFile: join(oauthFolder(context), "oauth.json"),
    home: homedirOf(io),
    version: io.version,
  });
  const knownProviders = [...choice.PROVIDERS.map(({ id }) => id), ...Object.keys(config.models?.providers ?? {}).map(choice.canonicalProvider)];
  return { profiles, auth, config, env, agentDir, agentId: chosen?.id ?? "main", redactor, canonical: choice.canonicalProvider, knownProviders };
}

/** Where other programs of this user keep their logins. */
function homedirOf({ env }: Io): string {
  return env["HOME"]?.trim() || env["USERPROFILE"]?.trim() || homedir();
}

/** The provider that a flag names, by its one name. */
export function providerOf(view: Pick<AuthView, "canonical">, named: string | undefined): string {
  const provider = view.canonical(named ?? "");
  if (provider === "" || /[\s:]/.test(provider)) {
    throw new AppError(
      "INVALID_INPUT",
      `expected --provider with the name of a provider, as in --provider anthropic${named === undefined ? "" : `; got ${JSON.stringify(named)}`}`,
    );
  }
  return provider;
}

/** Warns about an unknown provider: the credential is saved, since a plugin or the configuration may bring the provider later. */
export function warnAboutUnknown(io: Io, { knownProviders }: Pick<AuthView, "knownProviders">, provider: string): void {
  if (knownProviders.includes(provider)) return;
  const close = nearest(provider, knownProviders);
  io.err(
    `No provider is named ${JSON.stringify(provider)}${close === undefined ? "." : `: did you mean ${close}?`} ` +
      `The credential is saved and used once a plugin or models.providers defines that provider.\n`,
  );
}

/** A profile id that belongs to the provider. */
export function profileIdOf(provider: string, named: string | undefined, name: string): string {
  const id = named?.trim() || `${provider}:${name}`;
  if (!id.startsWith(`${provider}:`) || !/^[^\s:]+:\S+$/.test(id)) {
    throw new AppError("INVALID_INPUT", `expected a profile id of the form ${provider}:<name>, got ${JSON.stringify(id)}`);
  }
  return id;
}
