import { parseSessionKey, type SessionEntry, type ToolSchema } from "../../protocol/index.ts";
import { reasoningLevel } from "../../sessions/index.ts";
import { SHOWN_OUTPUT_CHARS } from "../../tools/index.ts";
import { injectFiles, type BootstrapFile } from "../prompt/injected-files.ts";
import { repoRoot } from "../prompt/repo-root.ts";
import { sessionFacts } from "../prompt/session-facts.ts";
import { buildSystemPrompt, type SystemPrompt } from "../prompt/system-prompt.ts";
import { userTimeZone } from "../prompt/time-zone.ts";
import type { SkillsSnapshot } from "../skills/snapshot.ts";
import { belongsTo } from "../workspace/bootstrap-files.ts";
import type { ChosenModel } from "./choose-model.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";

export interface PromptParts {
  readonly entry: SessionEntry;
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly tools: readonly ToolSchema[];
  readonly chosen: ChosenModel;
  readonly skills?: SkillsSnapshot | undefined;
  readonly files: readonly BootstrapFile[];
}

/** The system prompt of a turn, of facts that nobody outside can write. */
export function systemPromptFor(deps: TurnDeps, input: TurnInput, parts: PromptParts): SystemPrompt {
  const { entry, workspaceDir, tools, chosen, skills, files } = parts;
  const config = deps.config.current;
  const defaults = config.agents?.defaults;
  const { mode, channel } = sessionFacts(input.sessionKey, entry);
  const { entry: model } = chosen.selection;
  const sandbox = deps.sandbox?.({ agentId: input.agentId, sessionKey: input.sessionKey });
  const reasoning = reasoningLevel(entry).value;
  const told = channel ?? input.channel;
  const timezone = userTimeZone(defaults?.userTimezone, deps.timezone);
  const today = deps.today(timezone, deps.clock.now());
  // Known of the channel that the message came over, which need not be the session's last one.
  const facts = told === input.channel ? input.channelFacts : undefined;
  const chat = [told, input.direct, input.inbound, input.systemPrompt, facts && JSON.stringify(facts)];
  const scalars = [mode, input.agentId, workspaceDir, model.provider, model.id, chosen.thinking, reasoning, today, ...chat, skills?.prompt];
  return deps.session.prompt([config, tools, sandbox && JSON.stringify(sandbox), ...scalars, ...files], build);

  function build(): SystemPrompt {
    const aliases = modelAliases(defaults?.models);
    const repo = sandbox?.sandboxed === true ? undefined : repoRoot(defaults?.repoRoot, workspaceDir);
    const owners = (config.commands?.ownerAllowFrom ?? []).map(String);
    return buildSystemPrompt({
      mode,
      agentId: input.agentId,
      workspaceDir,
      tools,
      files: injectFiles(files, { maxChars: defaults?.bootstrapMaxChars, totalMaxChars: defaults?.bootstrapTotalMaxChars }),
      timezone,
      today,
      ...(defaults?.timeFormat === undefined ? {} : { timeFormat: defaults.timeFormat }),
      outputChars: SHOWN_OUTPUT_CHARS,
      channels: Object.keys(config.channels ?? {}).filter((name) => name !== "defaults"),
      host: { ...deps.host, ...(repo === undefined ? {} : { repoRoot: repo }) },
      turn: {
        model: `${model.provider}/${model.id}`,
        thinking: chosen.thinking,
        reasoning,
        channel: told,
        ...(facts ? { capabilities: facts.capabilities, buttonsOff: facts.buttonsOff === true, messageHints: facts.hints ?? [] } : {}),
        ...(facts?.reactions === undefined ? {} : { reactions: facts.reactions }),
        ...(input.direct === undefined ? {} : { direct: input.direct }),
        ...(input.inbound === undefined ? {} : { inbound: input.inbound }),
        ...(input.systemPrompt === undefined ? {} : { instructions: input.systemPrompt }),
      },
      ...(skills ? { skillsPrompt: skills.prompt } : {}),
      ...(aliases.length === 0 ? {} : { modelAliases: aliases }),
      // Inside a sandbox that folder is not seen.
      ...(deps.docsPath === undefined || sandbox?.sandboxed === true ? {} : { docsPath: deps.docsPath }),
      ...(sandbox ? { sandbox } : {}),
      ...(owners.length === 0 ? {} : { owners }),
      ...(config.memory?.citations === undefined ? {} : { memoryCitations: config.memory.citations }),
    });
  }
}

function modelAliases(models: Readonly<Record<string, { readonly alias?: string | undefined }>> | undefined) {
  return Object.entries(models ?? {}).flatMap(([model, { alias }]) => (alias === undefined || alias.trim() === "" ? [] : [{ alias, model }]));
}

/** The workspace's files for this session, as internal hooks left them. */
export async function bootstrapFiles(deps: TurnDeps, input: TurnInput, place: { readonly entry: SessionEntry; readonly workspaceDir: string }) {
  const { sessionKey, agentId } = input;
  const { entry, workspaceDir } = place;
  const which = sessionFacts(sessionKey, entry).files;
  const files = await deps.readFiles({ folder: workspaceDir, which });
  const hooks = deps.internalHooks?.();
  if (!hooks?.has("agent", "bootstrap")) return files;
  const context: Record<string, unknown> = {
    workspaceDir,
    bootstrapFiles: files.map((file) => ({ ...file })),
    cfg: structuredClone(deps.config.current),
    sessionKey,
    sessionId: entry.sessionId,
    agentId,
  };
  await hooks.trigger("agent", "bootstrap", sessionKey, context);
  const changed = context["bootstrapFiles"];
  return Array.isArray(changed) ? changed.filter((file): file is BootstrapFile => isBootstrapFile(file) && belongsTo(which, file.name)) : files;
}

function isBootstrapFile(file: unknown): file is BootstrapFile {
  if (typeof file !== "object" || file === null) return false;
  const { name, path, content, missing } = file as Record<string, unknown>;
  return typeof name === "string" && typeof path === "string" && typeof missing === "boolean" && (content === undefined || typeof content === "string");
}

/** Skills for this session: the agent's own list, or all. Subagents and jobs go without. */
export async function skillsFor(
  deps: TurnDeps,
  input: TurnInput,
  place: { readonly entry: SessionEntry; readonly workspaceDir: string },
): Promise<SkillsSnapshot | undefined> {
  if (!deps.skills || sessionFacts(input.sessionKey, place.entry).mode !== "full") return undefined;
  const agentId = parseSessionKey(input.sessionKey)?.kind === "agent" ? input.agentId : undefined;
  const agent = deps.config.current.agents?.list?.find(({ id }) => id.toLowerCase() === agentId?.toLowerCase());
  const skills = await deps.skills();
  return skills.snapshot({ workspace: place.workspaceDir, stored: place.entry["skillsSnapshot"], filter: input.skillFilter ?? agent?.skills });
}
