import { createIds } from "../../base/ids.ts";
import { systemRandom } from "../../base/random.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { defaultAgentId as defaultAgentOf, formatLocated, type OpenClawConfig } from "../../config/index.ts";
import { resolveSessionKey } from "../../protocol/index.ts";
import {
  createDockerCli,
  createRegistry,
  type ContainerKind,
  createSandboxes,
  explainSandbox,
  type SandboxExplanation,
  sandboxSettings,
  type ContainerEntry,
} from "../../tools/index.ts";
import { loadFor, requireValid } from "../config-source.ts";
import { type Io, printJson } from "../io.ts";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { createStyle, type Style } from "../output/style.ts";
import { formatFacts, formatTable } from "../output/table.ts";
import { formatDuration } from "../../base/text.ts";

interface SandboxSource {
  readonly config: OpenClawConfig;
  readonly stateDir: string;
  readonly configFile: string;
  readonly home: string;
  readonly registry: ReturnType<typeof createRegistry>;
  readonly docker: ReturnType<typeof createDockerCli>;
}

function openSource(io: Io): SandboxSource {
  const { snapshot, paths } = loadFor(io);
  requireValid(snapshot, formatLocated);
  return {
    config: snapshot.config,
    stateDir: paths.state,
    configFile: snapshot.path,
    home: paths.home,
    registry: createRegistry(paths.state, createIds(systemRandom)),
    docker: createDockerCli(io.env),
  };
}

/** The session that is meant: the named one, else the main one of the named or default agent. */
function chosenSession(config: OpenClawConfig, session: string | undefined, agent: string | undefined): { readonly agentId: string; readonly key: string } {
  const list = config.agents?.list?.length ? config.agents.list : [{ id: "main" }];
  const agentIds = list.map(({ id }) => id.toLowerCase());
  const defaultAgentId = agent?.trim().toLowerCase() ?? defaultAgentOf(config);
  if (!agentIds.includes(defaultAgentId)) throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(agent)}; there are: ${agentIds.join(", ")}`);
  const found = resolveSessionKey(session ?? "main", { defaultAgentId, scope: config.session?.scope ?? "per-sender" }, agentIds);
  if (!found.ok) throw new AppError("INVALID_INPUT", found.message);
  return { agentId: found.key === "global" ? defaultAgentId : found.agentId, key: found.key };
}

const kindOf = (browser: boolean | undefined): ContainerKind => (browser ? "browsers" : "containers");

type Available = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Tries the backend, as the session would. */
async function tryBackend(io: Io, { config, stateDir, configFile, home }: SandboxSource, agentId: string, sessionKey: string): Promise<Available> {
  const { agentWorkspace } = await import("../../config/index.ts");
  const paths = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  const sandboxes = createSandboxes({
    config: () => config,
    stateDir,
    ownFiles: () => [configFile],
    home,
    env: io.env,
    uid: process.getuid?.(),
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
  });
  try {
    return await sandboxes.availability({ agentId, sessionKey, workspaceDir: agentWorkspace(config, paths, agentId) });
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

const listText = (names: readonly string[]): string => (names.length === 0 ? "(empty)" : names.join(", "));

/** Whether the sandbox has a browser that its session can use. */
const browserText = ({ enabled, usable, missing, image }: SandboxExplanation["sandbox"]["browser"]): string =>
  !enabled ? "off" : usable ? `on (${image})` : `on, but not usable: ${missing.join(", ")}`;

function shown(explained: SandboxExplanation, available: Available | undefined, style: Style): string {
  const { sandbox, elevated } = explained;
  const { tools } = sandbox;
  const works = available === undefined ? "" : available.ok ? style.green(" (available)") : style.red(` (not available here: ${available.why})`);
  const section = (title: string, facts: readonly (readonly [string, string])[]): string => `${style.bold(title)}\n${formatFacts(facts, style)}\n`;
  return [
    section("Effective sandbox", [
      ["agentId", explained.agentId],
      ["sessionKey", explained.sessionKey],
      ["mainSessionKey", explained.mainSessionKey],
      ["runtime", sandbox.sessionIsSandboxed ? style.green("sandboxed") : style.yellow("direct")],
      ["mode", sandbox.mode],
      ["scope", sandbox.scope],
      ["perSession", String(sandbox.perSession)],
      ["workspaceAccess", sandbox.workspaceAccess],
      ["workspaceRoot", sandbox.workspaceRoot],
      ["backend", `${sandbox.backend}${works}`],
      ["browser inside", browserText(sandbox.browser)],
      ["host's browser", sandbox.browser.allowHostControl ? "allowed" : "not allowed"],
    ]),
    section("Sandbox tool policy", [
      [`allow (${tools.sources.allow.source})`, listText(tools.allow)],
      [`deny (${tools.sources.deny.source})`, listText(tools.deny)],
    ]),
    section("Elevated", [
      ["enabled", String(elevated.enabled)],
      ["channel", elevated.channel ?? "(none)"],
      ["allowedByConfig", String(elevated.allowedByConfig)],
      ...elevated.failures.map(({ gate, key }) => ["failing gate", `${gate} (${key})`] as const),
    ]),
    `${style.bold("Fix-it")}\n${explained.fixIt.map((key) => `- ${key}\n`).join("")}\nDocs: ${explained.docsUrl}\n`,
  ].join("");
}

export const explain = defineCommand({
  options: {
    session: { type: "string", value: "key", help: "Session (default: the agent's main session)" },
    agent: { type: "string", value: "id", help: "Agent (default: the default agent)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw sandbox explain --session agent:main:telegram:group:42", does: "Explain whether a group is sandboxed" },
    { line: "openclaw sandbox explain --agent main --json", does: "Same, as JSON" },
  ],
  async run({ io, values }) {
    const source = openSource(io);
    const { agentId, key } = chosenSession(source.config, values.session, values.agent);
    const explained = explainSandbox({ config: source.config, agentId, sessionKey: key, stateDir: source.stateDir });
    const available = explained.sandbox.mode === "off" ? undefined : await tryBackend(io, source, agentId, key);
    if (values.json) return printJson(io, { ...explained, sandbox: { ...explained.sandbox, ...(available ? { available } : {}) } });
    io.out(shown(explained, available, createStyle(io.color)));
  },
});

interface Listed extends ContainerEntry {
  readonly state: "running" | "stopped" | "absent" | "unknown";
  readonly running: boolean;
  /** It was made from the image that is configured now. */
  readonly imageMatch: boolean;
  readonly ageMs: number;
  readonly idleMs: number;
}

async function listed({ config, stateDir, registry, docker }: SandboxSource, kind: ContainerKind, now: number): Promise<readonly Listed[]> {
  return await Promise.all(
    registry.list(kind).map(async (entry) => {
      const state = await docker.state(entry.containerName).catch(() => "unknown" as const);
      const agentId = /^agent:([^:]+)/.exec(entry.sessionKey)?.[1] ?? "main";
      const settings = sandboxSettings(config, agentId, stateDir);
      const imageMatch = (kind === "browsers" ? settings.browser : settings.docker).image === entry.image;
      return {
        ...entry,
        state,
        running: state === "running",
        imageMatch,
        ageMs: Math.max(0, now - entry.createdAtMs),
        idleMs: Math.max(0, now - entry.lastUsedAtMs),
      };
    }),
  );
}

export const list = defineCommand({
  options: { browser: { type: "boolean", help: "Browser containers only" }, json: JSON_OPTION },
  examples: [{ line: "openclaw sandbox list", does: "Containers with age and state" }],
  async run({ io, values }) {
    const source = openSource(io);
    const [containers, browsers] = await Promise.all([values.browser ? [] : listed(source, "containers", io.now()), listed(source, "browsers", io.now())]);
    if (values.json) return printJson(io, { containers, browsers });
    const rows = [...containers, ...browsers];
    if (rows.length === 0) return io.out(`No ${kindOf(values.browser)}\n`);
    const style = createStyle(io.color);
    const cells = rows.map((row) => [
      row.containerName,
      row.running ? style.green(row.state) : style.yellow(row.state),
      row.imageMatch ? row.image : style.yellow(`${row.image} (a different image is configured)`),
      formatDuration(row.ageMs),
      formatDuration(row.idleMs),
      row.sessionKey,
    ]);
    io.out(formatTable(["Container", "State", "Image", "Age", "Idle", "Scope"], cells, { style, columns: io.columns }));
  },
});

/** Which containers are meant. Exactly one way to choose is required. */
function chooser(all: boolean | undefined, session: string | undefined, agent: string | undefined): (entry: ContainerEntry) => boolean {
  const ways = [all, session !== undefined, agent !== undefined].filter(Boolean).length;
  if (ways !== 1) throw new AppError("INVALID_INPUT", "expected --all, --session <key> or --agent <id>");
  if (all) return () => true;
  const wanted = (session ?? `agent:${agent}`).trim().toLowerCase();
  return ({ sessionKey }) => {
    const key = sessionKey.toLowerCase();
    return key === wanted || (agent !== undefined && key.startsWith(`${wanted}:`));
  };
}

export const recreate = defineCommand({
  options: {
    all: { type: "boolean", help: "All containers" },
    session: { type: "string", value: "key", help: "Container of this session" },
    agent: { type: "string", value: "id", help: "Containers of this agent" },
    browser: { type: "boolean", help: "Browser containers instead" },
    force: { type: "boolean", help: "Don't ask for confirmation" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw sandbox recreate --all --force", does: "Recreate all after changing the image or settings" }],
  async run({ io, values }) {
    const matches = chooser(values.all, values.session, values.agent);
    const { registry, docker } = openSource(io);
    const kind = kindOf(values.browser);
    const chosen = registry.list(kind).filter(matches);
    const names = chosen.map(({ containerName }) => containerName);
    if (names.length > 0 && !values.force) {
      if (!values.json) io.out(names.map((name) => `  ${name}\n`).join(""));
      if (!(await io.confirm(`Remove ${names.length === 1 ? "this container" : `these ${names.length} containers`}?`)))
        throw new AppError("CANCELLED", "cancelled; use --force to remove without asking");
    }
    for (const name of names) {
      await docker.remove(name);
      registry.remove(name, kind);
    }
    if (values.json) return printJson(io, { removed: names });
    io.out(names.length === 0 ? "Nothing to remove\n" : `Removed ${names.length}. They are recreated on next use; workspaces are kept\n`);
  },
});
