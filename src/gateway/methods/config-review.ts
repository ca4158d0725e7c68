import type { Config, ConfigCheck, LocatedIssue, ShownChange } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { changeFile } from "./config/change.ts";
import type { ConfigDeps } from "./config.ts";
import type { CallContext, Handlers } from "./handler.ts";

/** What the manifests of plugins say about a configuration that is only looked at. */
export type PluginIssues = (checked: ConfigCheck["loaded"]) => Promise<readonly LocatedIssue[]>;

type SentIssue = MethodResult<"config.check">["issues"][number];

/** The answer is sent before the gateway goes. */
const RESTART_DELAY_MS = 1000;

const sentIssue = ({ path, message, line, column, suggestion, expected }: LocatedIssue): SentIssue => {
  const fix = suggestion !== undefined && suggestion !== "" ? `Write ${suggestion}.` : expected === undefined ? undefined : `Expected: ${expected}.`;
  return { path, message, line, column, ...(fix === undefined ? {} : { fix }) };
};
const sentChanges = (changes: readonly ShownChange[]) => changes.map((change) => ({ ...change }));
const sentReload = ({ kind, paths }: ConfigCheck["reload"]) => ({ kind, paths: paths.map((path) => ({ ...path })) });

async function check(raw: string, config: Config, pluginIssues: PluginIssues | undefined): Promise<MethodResult<"config.check">> {
  const { loaded, issues, warnings, changes, reload } = (await config.review()).check(raw);
  const found = (await pluginIssues?.(loaded)) ?? [];
  const wrong = [...issues, ...found.filter(({ severity }) => severity === "error")];
  const doubtful = [...warnings, ...found.filter(({ severity }) => severity === "warning")];
  return {
    valid: wrong.length === 0,
    issues: wrong.map(sentIssue),
    warnings: doubtful.map(sentIssue),
    changes: sentChanges(changes),
    reload: sentReload(reload),
  };
}

async function restore(
  { id, baseHash }: MethodParams<"config.restore">,
  { config, budget, requestRestart }: ConfigDeps,
  { caller }: CallContext,
): Promise<MethodResult<"config.restore">> {
  const { text, reload } = (await config.review()).restoring(id);
  budget.take("config.restore", caller);
  const restarts = reload.kind === "restart";
  await changeFile(config, { kind: "text", text }, { baseHash, by: `config.restore (${caller.client.id})`, restartFollows: restarts, isRestore: true });
  if (restarts) requestRestart({ reason: "config.restore", delayMs: RESTART_DELAY_MS }, { urgent: true });
  return { ok: true, path: config.paths.file, hash: config.snapshot().hash, reload: sentReload(reload) };
}

/** Looking at a configuration before it is written, and going back to an earlier one. */
export function configReviewHandlers(deps: ConfigDeps) {
  const { config } = deps;
  return {
    "config.check": ({ raw }) => check(raw, config, deps.pluginIssues),
    "config.edit": async (edit) => ({ raw: (await config.review()).edit(edit) }),
    "config.versions": async () => ({ versions: (await config.review()).versions().map((version) => ({ ...version })) }),
    "config.version": async ({ id }) => {
      const { raw, changes } = (await config.review()).version(id);
      return { id, raw, changes: sentChanges(changes) };
    },
    "config.restore": (params, context) => restore(params, deps, context),
  } satisfies Handlers;
}
