import { homedir } from "node:os";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { nearest } from "../../../base/text.ts";
import { agentFolder, formatLocated, mainAgentFolder, oauthFolder, type OpenClawConfig, type PathContext } from "../../../config/index.ts";
import { loadChoice, loadProfiles, type Catalogue, type Found, type ModelRef, type SelectionInput } from "../../../models/index.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import type { Io } from "../../io.ts";

type Choice = Awaited<ReturnType<typeof loadChoice>>;
type Profiles = ReturnType<Awaited<ReturnType<typeof loadProfiles>>["createAuthProfiles"]>;
type Candidates = Awaited<ReturnType<Profiles["candidates"]>>;

/** Everything a command needs to know about models. */
export interface ModelsView {
  readonly choice: Choice;
  readonly config: OpenClawConfig;
  readonly configPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agentId: string | undefined;
  readonly agentDir: string;
  /** Where short-lived tokens are stored. */
  readonly credentialsDir: string;
  readonly auth: Profiles;
  readonly catalogue: Catalogue;
  /** Who may be let in where, for every provider that is known or configured. */
  readonly credentials: ReadonlyMap<string, Candidates>;
  readonly hasCredential: (provider: string) => boolean;
  readonly selection: SelectionInput;
  /** What was found on this machine, when it was looked for. */
  readonly found: Found | undefined;
}

export interface ViewOptions {
  readonly agent?: string | undefined;
  /** Ask the servers on this machine: always, or only when nothing else is there. */
  readonly discover?: "always" | "when-empty" | undefined;
}

function agentOf(config: OpenClawConfig, wanted: string | undefined): { readonly id: string; readonly agentDir?: string | undefined } | undefined {
  if (wanted === undefined) return undefined;
  const agents = config.agents?.list ?? [];
  const id = wanted.trim().toLowerCase();
  const found = agents.find((agent) => agent.id.trim().toLowerCase() === id);
  if (found) return found;
  if (id === "main") return { id };
  const close = nearest(id, ["main", ...agents.map((agent) => agent.id)]);
  throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(wanted)}; ${close === undefined ? "agents.list names them" : `did you mean ${close}?`}`);
}

/** Reads the configuration, the agent's files and the tables; queries local servers only on request. */
export async function openModels(io: Io, { agent, discover }: ViewOptions = {}): Promise<ModelsView> {
  const [choice, { createAuthProfiles }] = await Promise.all([loadChoice(), loadProfiles()]);
  const { snapshot, env } = loadFor(io);
  requireValid(snapshot, formatLocated);
  const { config } = snapshot;
  const context: PathContext = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  const chosen = agentOf(config, agent);
  const mainAgentDir = mainAgentFolder(context);
  const agentDir = chosen === undefined ? mainAgentDir : agentFolder(context, chosen);
  const credentialsDir = oauthFolder(context);
  const auth = createAuthProfiles({
    agentDir,
    mainAgentDir,
    config: () => config,
    env: () => env,
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
    redactor: createRedactor(),
    envNames: choice.keyVariables,
    canonical: choice.canonicalProvider,
    ambient: (provider) => isAmbient(choice, provider, env),
    oauthFile: join(credentialsDir, "oauth.json"),
    home: io.env["HOME"]?.trim() || io.env["USERPROFILE"]?.trim() || undefined,
    version: io.version,
  });
  const { providers } = choice.readModelsFile(agentDir);
  const names = new Set([
    ...choice.PROVIDERS.map(({ id }) => id),
    ...Object.keys(config.models?.providers ?? {}).map(choice.canonicalProvider),
    ...Object.keys(providers),
  ]);
  const credentials = new Map(await Promise.all([...names].map(async (name) => [name, await auth.candidates(name)] as const)));
  const hasKey = (provider: string): boolean => (credentials.get(choice.canonicalProvider(provider))?.length ?? 0) > 0;
  const hasCredential = (provider: string): boolean => provider === "builtin" || hasKey(provider) || choice.isKeylessServer(provider, config);
  const base = { config, agentDir, hasCredential, warn: (text: string) => io.err(`${text}\n`) };
  let catalogue = await choice.openCatalogue(base);
  let found: Found | undefined;
  const select = (): SelectionInput => ({ config, catalogue, hasCredential, agentId: chosen?.id, local: found?.models });
  if (discover === "always" || (discover === "when-empty" && choice.standardChoice(select()).source === "offline")) {
    found = await choice
      .createDiscovery({ clock: systemClock, settings: (provider) => catalogue.settings(provider), apiKey: (provider) => keyOf(choice, provider, env) })
      .look(io.signal());
    catalogue = await choice.openCatalogue({ ...base, discovered: found.models });
  }
  return {
    choice,
    config,
    configPath: snapshot.path,
    env,
    agentId: chosen?.id,
    agentDir,
    credentialsDir,
    auth,
    catalogue,
    credentials,
    hasCredential,
    selection: select(),
    found,
  };
}

function keyOf(choice: Choice, provider: string, env: ModelsView["env"]): string | undefined {
  return choice
    .keyVariables(provider)
    .map((name) => env[name]?.trim())
    .find((value) => value !== undefined && value !== "");
}

/** Other programs find this credential; the variables only show that it exists. */
function isAmbient(choice: Choice, provider: string, env: ModelsView["env"]): boolean {
  const facts = choice.providerFacts(provider);
  return facts?.ambient === true && facts.env.some((name) => (env[name]?.trim() ?? "") !== "");
}

/** The model that a user names: a reference, an alias, or a model of the default provider. Refuses unknown ones. */
export function namedModel(
  { choice, config, catalogue, selection }: ModelsView,
  text: string | undefined,
  expected = "a model, as provider/model or an alias",
): ModelRef {
  if (text === undefined || text.trim() === "")
    throw new AppError("INVALID_INPUT", `expected ${expected}; list all known models with: openclaw models list --all`);
  const read = choice.readRef(text, choice.aliasesOf(config), choice.standardChoice(selection).ref.provider);
  if (!read) throw new AppError("INVALID_INPUT", `invalid model: ${text} (use provider/model or an alias)`);
  const { provider, id, source } = catalogue.get(read.ref);
  const listed = config.models?.providers?.[provider]?.models ?? [];
  if (source === "generic" && listed.length > 0) {
    const names = listed.map((model) => model.id);
    const close = nearest(id, names);
    throw new AppError(
      "NOT_FOUND",
      `Unknown model: ${provider}/${id}; ${close === undefined ? `models.providers.${provider}.models has ${names.join(", ")}; add a new model there first` : `did you mean ${provider}/${close}? Add a new model to models.providers.${provider}.models first`}`,
    );
  }
  return { provider, id };
}

/** Turns with a model that sees less than the minimum are refused. */
export function warnAboutWindow(io: Io, { catalogue, choice, config }: ModelsView, ref: ModelRef): void {
  const window = choice.contextWindowOf(catalogue.get(ref), config);
  if (window.rating === "too-small") io.err(`${choice.describeWindow(window, choice.formatRef(ref))}; requests with it are refused\n`);
}

/** A word about a model that no table lists: it may be new, or mistyped. */
export function warnAboutUnlisted(io: Io, { catalogue, choice }: ModelsView, ref: ModelRef): void {
  if (catalogue.listed(ref) !== undefined) return;
  const known = catalogue.list({ provider: ref.provider, absent: true }).map(({ id }) => id);
  const close = nearest(ref.id, known);
  io.err(
    `${choice.formatRef(ref)} is not in a known model list, so it was not checked${close === undefined ? "" : `; did you mean ${ref.provider}/${close}?`}. ` +
      `Check it with: openclaw models status --probe\n`,
  );
}
