import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { createSandboxes, explainSandbox, type SandboxExplanation } from "../../../tools/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { chosenSession, openSource, type SandboxSource } from "./source.ts";

type Available = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Tries the backend, as the session would. */
async function tryBackend(io: Io, { config, stateDir, configFile, home }: SandboxSource, agentId: string, sessionKey: string): Promise<Available> {
  const { agentWorkspace } = await import("../../../config/index.ts");
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

const list = (names: readonly string[]): string => (names.length === 0 ? "(empty)" : names.join(", "));

function shown(explained: SandboxExplanation, available: Available | undefined, style: Style): string {
  const { sandbox, elevated } = explained;
  const { tools } = sandbox;
  const works = available === undefined ? "" : available.ok ? style.green(" (works here)") : style.red(` (does not work here: ${available.why})`);
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
    ]),
    section("Sandbox tool policy", [
      [`allow (${tools.sources.allow.source})`, list(tools.allow)],
      [`deny (${tools.sources.deny.source})`, list(tools.deny)],
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
    session: { type: "string", value: "key", help: "this session; the agent's main one by default" },
    agent: { type: "string", value: "id", help: "this agent; the default one otherwise" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw sandbox explain --session agent:main:telegram:group:42", does: "does this group work inside, and why" },
    { line: "openclaw sandbox explain --agent main --json", does: "the same for machines" },
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
