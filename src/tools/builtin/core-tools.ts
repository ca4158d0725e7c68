import { tmpdir } from "node:os";
import { AppError } from "../../base/errors.ts";
import { fetchFile } from "../../base/fetch-file.ts";
import { programFolder } from "../../base/program-folders.ts";
import { defaultAgentId } from "../../config/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import { BUILTIN_TOOLS, type BuiltinDeps } from "../catalog.ts";
import { createTools } from "../declaration.ts";
import { elevationFor, execSettingsFor } from "../exec/caller-settings.ts";
import { execSettings } from "../exec/settings.ts";
import { createWithheldHints } from "../exec/withheld.ts";
import { fileRules } from "../file-access/own-places.ts";
import type { Tool, ToolContext } from "../tool.ts";
import type { ToolSetDeps } from "../tool-set.ts";
import { createMarkUntrusted } from "../untrusted/mark.ts";
import type { ImageToolDeps } from "./image/image.ts";
import { applyPatchWorkspaceOnly } from "./patch/availability.ts";
import type { SessionModels } from "./session/deps.ts";

type Deps = Pick<ToolSetDeps, "models" | "store" | "config" | "clock" | "ids">;

/** What the session tools ask about models. */
function sessionModels(deps: Deps): SessionModels {
  return {
    async describe({ agentId, override }) {
      const models = await deps.models();
      const { entry, reason, thinking, contextWindow } = await models.select({ agentId, ...(override ? { session: override } : {}) });
      return { ref: `${entry.provider}/${entry.id}`, why: reason.text, thinking, contextWindow: contextWindow.tokens };
    },
    async setModel(sessionKey, ref) {
      const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(deps.config.current) });
      const models = await deps.models();
      const chosen = ref === "default" ? undefined : (await models.select({ agentId, override: ref })).entry;
      if (!(await deps.store.read("sessions.get", { key: sessionKey }))) throw new AppError("INVALID_INPUT", `there is no session ${sessionKey}`);
      const patch = { providerOverride: chosen?.provider ?? null, modelOverride: chosen?.id ?? null };
      await deps.store.write("sessions.patch", { key: sessionKey, patch });
      const { entry } = chosen ? { entry: chosen } : await models.select({ agentId });
      return `${entry.provider}/${entry.id}`;
    },
  };
}

/** Has a model that can see say what is in pictures. */
function describeImages(deps: Deps): ImageToolDeps["describe"] {
  return async ({ images, prompt, model, maxTokens, signal, context }) => {
    const { agentId, sessionKey, sessionId, runId } = context;
    const models = await deps.models();
    const seeing = await models.imageModels({ agentId, model });
    if (seeing.length === 0) throw new AppError("UNAVAILABLE", "no model that takes images is configured: set agents.defaults.imageModel");
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }, ...images], timestamp: deps.clock.now() }] as const;
    const call = models.call(agentId, { runId, agentId, sessionKey, sessionId, models: seeing, messages, thinking: "off", maxTokens, signal });
    for await (const event of call) {
      if (event.type !== "done") continue;
      const { result } = event;
      if (!result.ok) throw new AppError("UNAVAILABLE", result.text);
      const text = result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      return { text, provider: result.message.provider, model: result.message.model };
    }
    throw new AppError("INTERNAL", "the call of the image model ended without saying how");
  };
}

const IMAGE_TIMEOUT_MS = 30_000;

/** The built-in tools for a caller. They are created once: some hold state between calls. */
export function createCoreTools(deps: ToolSetDeps): (context: ToolContext) => readonly Tool[] {
  const offered = createTools(BUILTIN_TOOLS, builtinDeps(deps));
  return ({ provider, modelId, agentId }) => offered({ config: deps.config.current, provider, modelId, agentId });
}

/** What the tools work with: files, then commands, then sessions and the web. */
function builtinDeps(deps: ToolSetDeps): BuiltinDeps {
  const { ids, home, config, clock, log, env, approvals, execRules, remembered, processes, sandboxes, skillPrograms, fileAccess, store, version, redact } =
    deps;
  const chosenBy = (context: ToolContext) => ({ config: config.current, sandboxed: sandboxes.isSandboxed(context), isOwner: deps.isOwner });
  const passEnv = (sessionKey: string) => execSettings(config.current, agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(config.current) })).passEnv;
  return {
    ids,
    home,
    clock,
    log,
    config: () => config.current,
    workspaceOnly: (agentId) => fileRules(config.current, agentId, home).workspaceOnly,
    patchWorkspaceOnly: (agentId) => applyPatchWorkspaceOnly(config.current, agentId),
    place: (context) => sandboxes.for(context)?.files,
    access: fileAccess,
    describe: describeImages(deps),
    fitImages: deps.fitImages,
    imageFolders: () => [tmpdir()],
    mediaMaxMb: () => config.current.agents?.defaults?.mediaMaxMb,
    fetchImage: (url, { maxBytes, signal }) => fetchFile(url, { maxBytes, signal, timeoutMs: IMAGE_TIMEOUT_MS }, clock),
    processes,
    approvals,
    rules: execRules,
    remembered,
    settings: (context) => execSettingsFor(context, chosenBy(context)),
    env,
    programFolder: programFolder(),
    hints: createWithheldHints(env, passEnv),
    ignoreCase: process.platform === "win32" || process.platform === "darwin",
    sandboxed: (context) => sandboxes.isSandboxed(context),
    sandbox: (context) => sandboxes.for(context),
    skillPrograms,
    sealed: (context) => ({
      isSealed: (path) => fileAccess.isSealed(context, path),
      holdsSealed: (folder) => fileAccess.holdsSealed(context, folder),
    }),
    canBackground: ({ offered }) => offered?.has("process") ?? true,
    pluginEnvironment: ({ agentId, sessionKey, channel }, host) => pluginEnvironment(deps, { agentId, sessionKey, channel }, host),
    elevation: (context) => elevationFor(context, chosenBy(context)),
    announce: (context, text) => deps.announce(context.sessionKey, text),
    ...deps.asked,
    store,
    stateDir: config.paths.state,
    version,
    models: sessionModels(deps),
    isSandboxed: (who) => sandboxes.isSandboxed(who),
    redact,
    post: deps.sessionPost,
    mark: createMarkUntrusted(ids),
    secret: (name) => config.env()[name],
    resolveSecret: config.resolveSecret,
  };
}

/** `resolve_exec_env`: the variables that plugins add to a command, already filtered. Refused ones are logged by name. */
async function pluginEnvironment(
  { hooks, log }: ToolSetDeps,
  { agentId, sessionKey, channel }: { readonly agentId: string; readonly sessionKey: string; readonly channel: string | undefined },
  host: "sandbox" | "gateway" | "node",
): Promise<Readonly<Record<string, string>>> {
  if (!hooks.has("resolve_exec_env")) return {};
  const facts = { agentId, sessionKey, ...(channel === undefined ? {} : { messageProvider: channel }) };
  const found = await hooks.run("resolve_exec_env", { sessionKey, toolName: "exec", host }, facts);
  if (found && found.dropped.length > 0) log.warn(`variables that plugins may not set were left out: ${found.dropped.join(", ")}`, { sessionKey });
  return found?.env ?? {};
}
