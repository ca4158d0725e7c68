/**
 * Makes `docs/not-supported.md`: settings that are accepted and read by nobody, and members of the channel contract that nobody calls. It refuses to add a
 * name: the lists may only shrink. A new setting is read, or it is not accepted.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configSchema } from "../src/config/schema/index.ts";
import { UNAVAILABLE } from "../src/config/validate/rules/unavailable.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs/not-supported.md");

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Every setting by its path; entries of lists and maps are `[]` and `*`. */
function settingsOf(schema: Schema, path: readonly string[] = []): readonly (readonly string[])[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [[...path, name], ...settingsOf(inner, [...path, name])]);
  const listed = schema.items ? settingsOf(schema.items, [...path, "[]"]) : [];
  const mapped = typeof schema.additionalProperties === "object" ? settingsOf(schema.additionalProperties, [...path, "*"]) : [];
  const either = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => settingsOf(one, path));
  return [...own, ...listed, ...mapped, ...either];
}

function files(folder: string, isWanted: (path: string) => boolean): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.endsWith(".ts") && !/\.(?:test|fixture|d)\.ts$|\/node_modules\//.test(path) && isWanted(path));
}

/** Words of the product's code outside of the places that only declare them. */
function wordsOutside(...declaring: readonly RegExp[]): ReadonlySet<string> {
  const paths = ["src", "plugins"].flatMap((folder) => files(folder, (path) => !declaring.some((place) => place.test(path))));
  return new Set(paths.flatMap((path) => withoutComments(readFileSync(path, "utf8")).match(/[A-Za-z_$][\w$]*/g) ?? []));
}

const withoutComments = (code: string): string => code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

interface Manifest {
  readonly channelConfigs?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

/** Settings of the channels that come with the program, by what their manifests accept. */
function channelSettings(): readonly (readonly string[])[] {
  return readdirSync(join(ROOT, "plugins")).flatMap((plugin) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "plugins", plugin, "openclaw.plugin.json"), "utf8")) as Manifest;
    return Object.entries(manifest.channelConfigs ?? {}).flatMap(([channel, { schema }]) =>
      settingsOf(schema ?? {}, ["channels", channel]).filter((path) => !path.includes("accounts")),
    );
  });
}

/** A setting of which nobody says the name; what is above it counts for all below. */
function unreadSettings(): readonly string[] {
  const known = wordsOutside(/src\/config\/(?:schema|validate|migrate)\//, /src\/plugins\/sdk\//, /src\/protocol\/vocabulary\//);
  const words = (name: string): boolean => known.has(name) || !/^[A-Za-z_$][\w$]*$/.test(name);
  const unread = [...settingsOf(configSchema as Schema), ...channelSettings()]
    .filter((path) => !words(path.at(-1)!))
    .map((path) => path.join(".").replaceAll(".[]", "[]"));
  const areas = UNAVAILABLE.flatMap(({ paths }) => paths.map((path) => path.replaceAll(/\.list\.\*/g, ".list[]")));
  const isInArea = (path: string): boolean => areas.some((area) => path === area || path.startsWith(`${area}.`) || path.startsWith(`${area}[]`));
  const all = [...new Set(unread)].filter((path) => !isInArea(path)).sort();
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}.`) || path.startsWith(`${other}[]`)));
}

/** Members of the contract with channels that nobody outside of it names. */
function uncalledMembers(): readonly string[] {
  const known = wordsOutside(/src\/protocol\/vocabulary\//, /src\/plugins\/sdk\//, /^.*\/plugins\/(?:telegram|irc)\//);
  const members = files("src/protocol/vocabulary/channel", () => true).flatMap((path) => {
    const code = withoutComments(readFileSync(path, "utf8"));
    return [...code.matchAll(/export interface (Channel\w*(?:Adapter|Plugin)\w*)[^{]*\{([\s\S]*?)\n\}/g)].flatMap(([, owner, body]) =>
      [...body!.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)].map(([, name]) => ({ owner: owner!, name: name! })),
    );
  });
  return [...new Set(members.filter(({ name }) => !known.has(name)).map(({ owner, name }) => `${owner}.${name}`))].sort();
}

/** One row for each feature that is not there, with its settings. */
const areaRows = (): string =>
  UNAVAILABLE.map(({ name, paths, instead }) => `| ${name} | ${paths.map((path) => `\`${path}\``).join(", ")} | ${instead ?? ""} |`).join("\n");

const listed = (names: readonly string[]): string => names.map((name) => `- \`${name}\``).join("\n");

/** Names on a page. */
const namesOn = (text: string): readonly string[] => [...text.matchAll(/^- `(.+)`$/gm)].map(([, name]) => name!);

/** Names that the page before did not have. */
export const added = (before: string, after: string): readonly string[] => namesOn(after).filter((name) => !namesOn(before).includes(name));

export function page(): string {
  return `# Not supported

Made by \`scripts/unread.ts\` from the code: what is accepted, so that configurations and plugins of the reference system load, and has no effect here. The lists may only get shorter.

## Features

Settings of these features, and everything below them, are accepted and have no effect. \`openclaw config validate\`, \`openclaw doctor\` and the log of a start warn when one is set.

| feature | settings | instead |
| --- | --- | --- |
${areaRows()}

## Settings

Single settings that no code reads:

${listed(unreadSettings())}

## Members of the channel contract

${listed(uncalledMembers())}
`;
}

if (import.meta.main) {
  const made = page();
  const more = existsSync(PAGE) ? added(readFileSync(PAGE, "utf8"), made) : [];
  if (more.length === 0) writeFileSync(PAGE, made);
  else {
    console.error(`accepted and read by nobody, which is new: ${more.join(", ")}. Read it, or do not accept it`);
    process.exitCode = 1;
  }
}
