import { expect, test } from "vitest";
import { configSchema } from "../../schema/index.ts";
import { validateConfig } from "../index.ts";
import { isObject } from "../../value.ts";

interface Node {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
}

/** Every list of texts in the schema: `[]` is any item, `*` any key. */
function* lists(node: Node, path: readonly string[] = []): Generator<readonly string[]> {
  for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) yield* lists(branch, path);
  if (node.items) {
    const { type } = node.items;
    if (node.items.enum === undefined && (type === "string" || (Array.isArray(type) && type.includes("string")))) yield path;
    yield* lists(node.items, [...path, "[]"]);
  }
  for (const [key, child] of Object.entries(node.properties ?? {})) yield* lists(child, [...path, key]);
  if (isObject(node.additionalProperties)) yield* lists(node.additionalProperties, [...path, "*"]);
}

/** Lists whose entries name nothing that the configuration could know, by the end of their path, with the reason. */
const FREE: readonly (readonly [end: RegExp, reason: string])[] = [
  [/(?:^|\.)(?:args|sessionArgs|resumeArgs|command|input)$/, "arguments of a program"],
  [/(?:^|\.)(?:folders|extraPaths|extraDirs|paths|unseal|pathPrepend|tmpfs|binds)$/, "files and folders"],
  [/(?:^|\.)(?:mentionPatterns|redactPatterns|resetTriggers|sessionFilter|allowedSessionKeyPrefixes)$/, "patterns and beginnings of texts"],
  [/(?:^|\.)(?:allowedHostnames|hostnameAllowlist|urlAllowlist|allowedOrigins|trustedProxies|dns|extraHosts)$/, "hosts and addresses"],
  [/(?:^|\.)(?:clearEnv|passEnv)$/, "variables of the environment"],
  [/(?:^|\.)(?:safeBins|capDrop)$/, "programs and capabilities of the machine"],
  [/(?:^|\.)(?:allowedMimes|requiredHeaders|allowUsers|roles|sessionIdFields)$/, "names that other systems give"],
  [/^diagnostics\.flags$/, "areas, which plugins have too"],
  [/^auth\.order\.\*$/, "profiles, which are in the stores of agents as well"],
  [/^models\.bedrockDiscovery\.providerFilter$/, "makers of models, which the service lists"],
  [/^nodeHost\.browserProxy\.allowProfiles$/, "profiles of the browser on another machine"],
  [/^gateway\.nodes\.allowCommands$/, "commands that connected machines bring"],
  [/^hooks\.internal\.installs\.\*\.hooks$/, "a record of what an installation brought"],
  [/^agents\.list\.\[\]\.skills$/, "skills, which workspaces have of their own"],
];

/** A configuration with one agent, and with one entry in the list at a path. */
const configWith = (path: readonly string[], entry: string): unknown => ({ agents: { list: [{ id: "main" }] }, ...(holding(path, entry) as object) });

function holding(path: readonly string[], entry: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return [entry];
  if (key === "[]") return [{ id: "main", ...(holding(rest, entry) as object) }];
  return { [key === "*" ? "openai" : key]: holding(rest, entry) };
}

const all = [...new Set([...lists(configSchema as Node)].map((path) => path.join(".")))];
const reasons = (list: string): readonly string[] => FREE.flatMap(([end, reason]) => (end.test(list) ? [reason] : []));
const isReported = (list: string, entry: string): boolean =>
  validateConfig(configWith(list.split("."), entry), { sections: { names: { complete: true }, knownPlugins: ["telegram"] } }).some(
    ({ path }) => path.at(-1) === 0 && path.length === list.split(".").length + 1,
  );

test("every list of names in the configuration is checked, or free for a reason", () => {
  expect(all.length).toBeGreaterThan(100);
  for (const list of all) {
    const checked = isReported(list, "nosuchnme/x") || isReported(list, "nosuchnme") || isReported(list, "nosuchnme:1");
    const free = reasons(list);
    expect(checked || free.length === 1, `${list}: check its names in rules/names.ts, or say here why they are free`).toBe(true);
    expect(free.length, list).toBeLessThanOrEqual(1);
  }
});

test("every reason is used, and an empty name is reported in every checked list", () => {
  for (const [end, reason] of FREE)
    expect(
      all.some((list) => end.test(list)),
      reason,
    ).toBe(true);
  for (const list of all.filter((one) => reasons(one).length === 0 && !/fallbacks$|allowModels$/.test(one))) expect(isReported(list, ""), list).toBe(true);
});
