import { defineTool } from "../../declaration.ts";
import { failedOutcome } from "../../tool.ts";
import { filesFor, missingParams, resolvePath, searchedPath, textParam } from "../files/paths.ts";
import { createEffort, patienceOf, type SearchToolsDeps } from "./effort.ts";
import { MAX_GLOB_CHARS, parseGlob } from "./glob.ts";
import { createPage, limitOf, pathFailure } from "./page.ts";
import { walk } from "./walk.ts";

const LIMIT = 1000;
const MAX_LIMIT = 10_000;

/** Finds files and folders by name. */
export const findTool = defineTool<SearchToolsDeps>({
  name: "find",
  groups: ["fs"],
  reach: { reads: "private" },
  promptLine: "find files by name pattern",
  icon: "🔍",
  inSandbox: "allowed",
  overHttp: "never",
  label: "find",
  description: `Find files and folders by a glob pattern. Paths come from the folder searched, at most ${LIMIT}. Files in .gitignore are skipped.`,
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Glob, such as *.ts, **/*.json or src/**/*.test.ts" },
      path: { type: "string", description: "Folder to search; the workspace by default" },
      limit: { type: "number", description: `Maximum number of results (${LIMIT})` },
    },
    required: ["pattern"],
  },
  idempotent: true,
  executionMode: "parallel",
  paths: searchedPath,
  run: (deps) => async (call) => {
    const { params, context, signal } = call;
    const pattern = textParam(params, "pattern")?.trim();
    if (!pattern) return failedOutcome(missingParams(["pattern"]));
    const matches = parseGlob(pattern);
    if (!matches) return failedOutcome(`The pattern is too long or has too many alternatives: use at most ${MAX_GLOB_CHARS} characters`);
    const written = textParam(params, "path")?.trim() || ".";
    const limit = limitOf(params["limit"], LIMIT, MAX_LIMIT);
    const effort = createEffort(deps.clock, signal, patienceOf(deps).totalMs);
    const page = createPage();
    let more = false;
    try {
      const start = resolvePath(written, context, deps.home);
      for await (const { path, kind } of walk({ files: filesFor("find", call, deps), start, top: resolvePath(".", context, deps.home), effort })) {
        if (!matches(path)) continue;
        more = page.lines.length === limit;
        if (more || !page.add(kind === "folder" ? `${path}/` : path)) break;
      }
    } catch (error) {
      return pathFailure(error, written);
    }
    return page.outcome(
      "No files found matching pattern",
      [more ? `${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern` : undefined, effort.stopped],
      more ? { resultLimitReached: limit } : {},
    );
  },
});
