import { isAbsolute, relative, sep } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { RootedFiles } from "../../../base/rooted-files.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome, type ToolOutcome } from "../../tool.ts";
import { derivedPaths, filesFor, resolvePath, textParam, type FileToolsDeps } from "../files/paths.ts";
import { createEffort } from "../search/effort.ts";
import { applyPatchAvailable } from "./availability.ts";
import { namedInPatch, parsePatch } from "./parse.ts";
import { planPatch, type PatchPlan, type PatchSummary } from "./plan.ts";

export interface ApplyPatchDeps extends FileToolsDeps {
  readonly clock: Clock;
  /** `tools.exec.applyPatch.workspaceOnly` for this agent; `tools.fs.workspaceOnly` confines it too. */
  readonly patchWorkspaceOnly: (agentId: string) => boolean;
}

const MAX_INPUT_CHARS = 4 * 1024 * 1024;

/** Changes several files by one patch. All of it is tried in memory first: a patch that does not fit changes nothing. */
export const applyPatchTool = defineTool<ApplyPatchDeps>({
  name: "apply_patch",
  groups: ["fs"],
  reach: {},
  promptLine: "change several files with one patch",
  icon: "🩹",
  aliases: ["apply-patch"],
  writesFiles: true,
  inSandbox: "allowed",
  overHttp: "never",
  absence: ({ config, provider, modelId, agentId }) =>
    applyPatchAvailable(config, provider, modelId, agentId)
      ? undefined
      : { why: "it is offered to models of openai and openai-codex when tools.exec.applyPatch.enabled is true", path: "tools.exec.applyPatch" },
  label: "apply_patch",
  description: "Change one or more files by a patch that begins with *** Begin Patch and ends with *** End Patch.",
  parameters: {
    type: "object",
    properties: { input: { type: "string", description: "The whole patch, with its first and last line" } },
    required: ["input"],
  },
  paths: (deps) => (params, context) => derivedPaths(namedInPatch(textParam(params, "input") ?? ""), context, deps),
  run: (deps) => {
    const confined: FileToolsDeps = { ...deps, workspaceOnly: (agentId) => deps.workspaceOnly(agentId) || deps.patchWorkspaceOnly(agentId) };
    return async (call) => {
      const { params, context, signal } = call;
      const input = textParam(params, "input");
      if (!input?.trim()) return failedOutcome("Provide a patch input.");
      if (input.length > MAX_INPUT_CHARS) return failedOutcome(`The patch has more than ${MAX_INPUT_CHARS} characters: send it in parts`);
      const files = filesFor("apply_patch", call, confined);
      const effort = createEffort(deps.clock, signal, Number.POSITIVE_INFINITY);
      const resolve = (written: string): string => resolvePath(written, context, deps.home);
      try {
        const hunks = parsePatch(input);
        if (hunks.length === 0) return failedOutcome("No files were modified.");
        const top = resolve(".");
        const plan = await planPatch(hunks, {
          files,
          resolve,
          display: (path) => displayed(top, path),
          pause: () => effort.goOn(),
        });
        await files.permit([...plan.writes.map(({ path }) => path), ...plan.removals]);
        return await carryOut(plan, files, (path) => displayed(top, path));
      } catch (error) {
        if (error instanceof AppError) return failedOutcome(messageOf(error));
        throw error;
      }
    };
  },
});

/** New content comes before anything is deleted: a stop in between loses nothing. */
async function carryOut({ writes, removals, summary }: PatchPlan, files: RootedFiles, display: (path: string) => string): Promise<ToolOutcome> {
  const done: string[] = [];
  try {
    for (const { path, content } of writes) {
      await files.write(path, content);
      done.push(`wrote ${display(path)}`);
    }
    for (const path of removals) {
      await files.remove(path);
      done.push(`deleted ${display(path)}`);
    }
  } catch (error) {
    const before = done.length === 0 ? "No files were modified." : `Before that: ${done.join(", ")}.`;
    return failedOutcome(`${messageOf(error)}\n${before}`, { done });
  }
  return textOutcome(summaryText(summary), { summary });
}

function summaryText({ added, modified, deleted }: PatchSummary): string {
  const lines = [...added.map((path) => `A ${path}`), ...modified.map((path) => `M ${path}`), ...deleted.map((path) => `D ${path}`)];
  return ["Success. Updated the following files:", ...lines].join("\n");
}

function displayed(top: string, path: string): string {
  const short = relative(top, path);
  return short === "" || short === ".." || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short;
}
