import { dottedPath, formatLocated, isManaged, isObject, namesPlugins, type LocatedIssue } from "../../config/index.ts";
import { pluginIssues } from "../../plugins/index.ts";
import type { DoctorDeps } from "../deps.ts";
import type { Check, Finding, Repair } from "../finding.ts";

const isName = ({ code }: LocatedIssue): boolean => code === "unknown-name" || code === "unknown-plugin";

/** Names in lists that stand for nothing: tools, groups, plugins, channels, agents, providers. In a list that denies, what was to be closed is open. */
export const configNames: Check = {
  id: "config.names",
  topic: "config",
  title: "Names in lists",
  async run(deps) {
    const { config, env } = deps;
    const snapshot = config.snapshot();
    if (!snapshot.exists) return [];
    const own = [...snapshot.issues, ...snapshot.warnings].filter(isName);
    const brought = namesPlugins(snapshot.resolved) ? pluginIssues({ snapshot, locate: config.locate }, await deps.inventory()).filter(isName) : [];
    const found = [...own, ...brought];
    const repair = isManaged(env) ? undefined : repairOf(deps, found, snapshot.issues);
    return found.map((issue, index): Finding => {
      const known = issue.suggestion !== undefined && repair !== undefined;
      return {
        part: issue.path,
        level: issue.severity === "error" ? "error" : "warn",
        text: formatLocated(issue),
        todo: known ? "fix the name, or run openclaw doctor --fix" : `fix line ${issue.line} of ${issue.file}, or remove the entry`,
        ...(index === found.findIndex(({ suggestion }) => suggestion !== undefined) && repair ? { repair } : {}),
      };
    });
  },
};

/**
 * Puts the nearest known names in place. It is a guess, so it is asked about. A file is never written with errors in it: unknown keys go in the same
 * edit, and with any other error there is no repair.
 */
function repairOf({ config }: DoctorDeps, found: readonly LocatedIssue[], errors: readonly LocatedIssue[]): Repair | undefined {
  const meant = new Map(found.flatMap(({ path, suggestion }) => (suggestion === undefined ? [] : [[path, suggestion] as const])));
  const unknown = errors.filter(({ code }) => code === "unknown-key");
  const others = errors.filter((issue) => !unknown.includes(issue) && !(isName(issue) && (unknown.length === 0 || meant.has(issue.path))));
  if (meant.size === 0 || others.length > 0) return undefined;
  const words = [...meant].map(([path, name]) => `${path} = ${JSON.stringify(name)}`).join(", ");
  const keys = unknown.map(({ path }) => path).join(", ");
  const change = (written: unknown): unknown => renamed(written, meant);
  return {
    summary: keys === "" ? `write ${words}` : `write ${words} and remove ${keys}`,
    safe: false,
    async apply() {
      const { files } = await config.edit(keys === "" ? { kind: "change", change } : { kind: "prune", change }, { by: "cli doctor" });
      return `Wrote ${words}${keys === "" ? "" : `, removed ${keys}`}; the previous version is ${files.map((file) => `${file}.bak`).join(", ")}`;
    },
  };
}

/** The value with other names at some places of its lists. */
function renamed(value: unknown, meant: ReadonlyMap<string, string>, path: readonly (string | number)[] = []): unknown {
  if (typeof value === "string") return typeof path.at(-1) === "number" ? (meant.get(dottedPath(path)) ?? value) : value;
  if (Array.isArray(value)) return value.map((item: unknown, index) => renamed(item, meant, [...path, index]));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, renamed(child, meant, [...path, key])]));
}
