import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError, fileError, systemCode } from "../../../base/errors.ts";
import { printableName } from "../../../base/printable.ts";
import { loadRoster } from "../../../agent/index.ts";
import { agentWorkspace, expandHome } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { describeEdit } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { agentKey, agentNamed, agentsOf, openAgents, type Agent, type AgentsView } from "./source.ts";

const OPTIONS = {
  agent: { type: "string", value: "id", help: "The agent" },
  workspace: { type: "string", value: "dir", help: "Agent with this workspace; --from-identity reads its IDENTITY.md" },
  "identity-file": { type: "string", value: "path", help: "Read the identity from this file" },
  "from-identity": { type: "boolean", help: "Read the identity from IDENTITY.md in the workspace" },
  name: { type: "string", value: "text", help: "Name" },
  theme: { type: "string", value: "text", help: "Personality, in a few words" },
  emoji: { type: "string", value: "text", help: "Emoji for reactions and lists" },
  avatar: { type: "string", value: "file or url", help: "Avatar: a file in the workspace, an http URL or a data: URL" },
  json: JSON_OPTION,
} as const;

type Flags = Values<typeof OPTIONS>;

/** Files of this size are no identities. */
const MOST_BYTES = 256 * 1024;

/** The agent that is meant: by its id, by its workspace, or the only one there is. */
function chosenAgent(io: Io, view: AgentsView, values: Flags): Agent {
  if (values.agent !== undefined) return agentNamed(view.config, values.agent);
  const agents = agentsOf(view.config);
  const file = values["identity-file"];
  const folder = values.workspace ?? (file === undefined ? undefined : dirname(file));
  const wanted = folder === undefined ? resolve(io.cwd) : resolve(io.cwd, expandHome(folder.trim(), view.home));
  const there = agents.filter(({ id }) => agentWorkspace(view.config, view.context, agentKey(id)) === wanted);
  const [only] = there.length === 0 && folder === undefined ? agents : there;
  if (there.length === 1 || (folder === undefined && agents.length === 1)) return only!;
  const ids = (there.length > 1 ? there : agents).map(({ id }) => id).join(", ");
  if (there.length > 1) throw new AppError("INVALID_INPUT", `several agents use the workspace ${wanted}: ${ids}; choose one with --agent`);
  if (folder !== undefined) throw new AppError("NOT_FOUND", `no agent has the workspace ${wanted}; choose one of ${ids} with --agent`);
  throw new AppError("INVALID_INPUT", `expected --agent or --workspace; agents: ${ids}`);
}

function readIdentity(path: string): string {
  try {
    if (statSync(path).size > MOST_BYTES)
      throw new AppError("INVALID_INPUT", `${path} is larger than ${MOST_BYTES} bytes, which is too large for an identity file`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (systemCode(error) === "ENOENT") throw new AppError("NOT_FOUND", `${path} does not exist; create it, or use --name, --theme, --emoji or --avatar`);
    throw fileError(path, "could not read", error);
  }
}

export const setIdentity = defineCommand({
  options: OPTIONS,
  examples: [
    { line: 'openclaw agents set-identity --agent main --name "Ada" --emoji 🧮', does: "Set the name and emoji" },
    { line: "openclaw agents set-identity --agent work --from-identity", does: "Read them from IDENTITY.md" },
  ],
  async run({ io, values, positionals }) {
    if (positionals.length > 0) throw new AppError("INVALID_INPUT", `unexpected ${JSON.stringify(positionals[0])}; choose the agent with --agent`);
    using view = await openAgents(io);
    const agent = chosenAgent(io, view, values);
    const agentId = agentKey(agent.id);
    const workspace = agentWorkspace(view.config, view.context, agentId);
    const { "identity-file": file, "from-identity": fromFile } = values;
    const identityFile = file !== undefined ? resolve(io.cwd, expandHome(file, view.home)) : fromFile ? join(workspace, "IDENTITY.md") : undefined;
    const found = identityFile === undefined ? {} : (await loadRoster()).parseIdentity(readIdentity(identityFile));
    const cleaned = (text: string | undefined): string | undefined => (text === undefined ? undefined : printableName(text));
    const { name, theme, emoji, avatar } = {
      ...found,
      ...Object.fromEntries(
        Object.entries({ name: values.name, theme: values.theme, emoji: values.emoji, avatar: values.avatar }).filter(([, value]) => value !== undefined),
      ),
    };
    const fields = { identityName: cleaned(name), theme: cleaned(theme), emoji: cleaned(emoji), avatar: avatar?.trim() };
    if (Object.values(fields).every((value) => value === undefined)) {
      const why =
        identityFile === undefined
          ? "expected --name, --theme, --emoji, --avatar or --from-identity"
          : `${identityFile} has no name, theme, emoji or avatar yet`;
      throw new AppError("INVALID_INPUT", why);
    }
    await view.roster.change(agentId, fields, "cli agents set-identity");
    const identity = agentNamed(view.config, agentId).identity ?? {};
    const result = await view.applied();
    if (values.json) return printJson(io, { agentId, identity, workspace, identityFile: identityFile ?? null, ...result });
    const shown = Object.entries(identity).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
    io.out(io.runnable(describeEdit(`${agentId}: ${shown.join(", ") || "no identity"}`, result)));
  },
});
