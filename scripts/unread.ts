/**
 * Makes `docs/not-supported.md`: settings that are accepted and have no effect, members of the channel contract that nobody calls, and members of the runtime
 * that only fail. Which these are is found in the code (`unread/reads.ts`), and each of them has to be reported to the user: settings by `UNAVAILABLE`, members
 * by `UNCALLED`, those of the runtime by their error. The page may only lose names.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configSchema } from "../src/config/schema/index.ts";
import { UNAVAILABLE } from "../src/config/validate/rules/unavailable.ts";
import { expandChannelConfigs } from "../src/plugins/inventory/channel-keys.ts";
import { UNCALLED } from "../src/plugins/registry/uncalled.ts";
import { ABSENT } from "../src/plugins/runtime/pending.ts";
import { readsIn, type FileReads } from "./unread/reads.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs/not-supported.md");

interface Schema {
  readonly properties?: Readonly<Record<string, Schema | null>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

type Path = readonly string[];

/** A reference to a secret: `config.resolveSecret` reads all of it. */
const isSecretRef = ({ properties = {} }: Schema): boolean =>
  properties["source"] !== undefined && ["id", "path", "command"].some((name) => properties[name] !== undefined);

/** Every setting by its path; entries of lists and maps are `[]` and `*`. */
function settingsOf(schema: Schema, path: Path = []): readonly Path[] {
  if (isSecretRef(schema)) return [];
  // A channel takes a common key out with null.
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => (inner ? [[...path, name], ...settingsOf(inner, [...path, name])] : []));
  const listed = schema.items ? settingsOf(schema.items, [...path, "[]"]) : [];
  const mapped = typeof schema.additionalProperties === "object" ? settingsOf(schema.additionalProperties, [...path, "*"]) : [];
  const either = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => settingsOf(one, path));
  return [...own, ...listed, ...mapped, ...either];
}

interface Manifest {
  readonly channels?: readonly string[];
  readonly channelConfigs?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

const MANIFESTS = readdirSync(join(ROOT, "plugins")).map(
  (plugin) => JSON.parse(readFileSync(join(ROOT, "plugins", plugin, "openclaw.plugin.json"), "utf8")) as Manifest,
);
/** The channels that come with the program. */
const CHANNELS = MANIFESTS.flatMap(({ channels = [] }) => channels);

/** Their settings, by what their manifests accept: those of the channel, and again those that an account may override. */
function channelSettings(): readonly Path[] {
  return MANIFESTS.flatMap((manifest) => {
    const configs = (expandChannelConfigs(manifest.channelConfigs) ?? {}) as NonNullable<Manifest["channelConfigs"]>;
    return Object.entries(configs).flatMap(([channel, { schema = {} }]) => {
      const own = settingsOf(schema, ["channels", channel]).filter((path) => path[2] !== "accounts");
      const { additionalProperties: account } = schema.properties?.["accounts"] ?? {};
      const overridden = typeof account === "object" ? (account.properties ?? {}) : {};
      const inAccounts = own
        .filter(([, , key = ""]) => Object.hasOwn(overridden, key))
        .map(([, , ...keys]): Path => ["channels", channel, "accounts", "*", ...keys]);
      return [...own, ...inAccounts];
    });
  });
}

/** Places that declare, check, move, show or judge settings, and do not act on them. */
const DECLARING = [
  /^src\/config\/(?:schema|validate|migrate|review)\//,
  /^src\/config\/(?:in-effect|reload-rules)\.ts$/,
  /^src\/plugins\/sdk\/channels\/config-/,
  /^src\/protocol\/vocabulary\//,
  /^src\/(?:audit|doctor)\//,
  /^src\/setup\/stamp\.ts$/,
  /^src\/gateway\/tools\/gateway-tool\.ts$/,
];

/** What the program writes for itself and for people, and wants nothing of. */
const RECORDS = /^(?:\$schema|meta|wizard|(?:plugins|hooks\.internal)\.installs)(?:\.|$)/;

/** Sections that one file hands to another as a whole, by the end of their path: the file that takes them apart; `*` where any key is looked up or copied. */
const HANDED_ON: Readonly<Record<string, string>> = {
  "contextPruning.softTrim": "src/sessions/view/shorten.ts",
  "docker.ulimits.*": "src/tools/sandbox/docker/create-args.ts",
  "image.scope": "src/sessions/entry/settings.ts",
  "video.scope": "src/sessions/entry/settings.ts",
  "links.scope": "src/sessions/entry/settings.ts",
  "scope.rules.[]": "src/sessions/entry/settings.ts",
  "sandbox.prune": "src/tools/sandbox/docker/upkeep.ts",
  "tools.taint": "src/tools/untrusted/taint.ts",
  "taint.tools.*": "src/tools/untrusted/taint.ts",
  ...Object.fromEntries(
    CHANNELS.flatMap((id) => [
      [`${id}.dms.*`, "src/sessions/view/settings.ts"],
      [`${id}.blockStreamingCoalesce`, "src/conversation/reply/blocks.ts"],
      [`${id}.retry`, "src/conversation/delivery/step.ts"],
    ]),
  ),
  "discord.execApprovals": "src/conversation/approvals/channel-approvers.ts",
  "discord.actions": "*",
  "slack.actions": "*",
  "slack.replyToModeByChatType": "*",
  "tts.modelOverrides": "*",
  "audio.scope": "*",
  "audio.scope.rules.[]": "*",
  "audio.deepgram": "src/voice/recognition/providers.ts",
  "[].deepgram": "src/voice/recognition/providers.ts",
  "queue.byChannel": "*",
  "session.resetByType": "*",
  "[].identity": "*",
};

/** Parts of a path that say where something stands, not what it is. */
const PLACES = new Set(["*", "[]", "defaults", "list", "entries", "channels"]);

const isOfAccount = (path: Path): boolean => path[0] === "channels" && path[2] === "accounts";

/** Whether a file looks at the settings of accounts: the kit and the channels themselves read them merged; all other code has to name the account. */
const knowsAccounts = ({ path, words }: FileReads): boolean =>
  /^(?:plugins|src\/plugins\/sdk)\//.test(path) || ["account", "accounts", "accountId"].some((word) => words.has(word));

/** Whether some file reads the setting: by an access behind the section's name, or by any access where the sections above it are named. */
export function isRead(path: Path, files: readonly FileReads[]): boolean {
  if (isOfAccount(path)) return isRead([...path.slice(0, 2), ...path.slice(4)], files.filter(knowsAccounts));
  const leaf = path.at(-1)!;
  const above = path.slice(0, -1);
  const handedTo = Object.entries(HANDED_ON).find(([end]) => above.join(".").endsWith(end))?.[1];
  if (handedTo === "*") return true;
  const sections = above.filter((part) => !PLACES.has(part));
  const parent = sections.at(-1);
  return files.some(({ path: file, names, pairs, words }) => {
    if (!names.has(leaf)) return false;
    if (parent === undefined || file === handedTo || pairs.has(`${parent}.${leaf}`)) return true;
    // A channel's own files are about that channel.
    return sections.every((section) => words.has(section) || file.startsWith(`plugins/${section}/`) || isAnyChannel(section, words));
  });
}

/** Code that serves every channel does not name them. */
const isAnyChannel = (section: string, words: ReadonlySet<string>): boolean =>
  CHANNELS.includes(section) && ["channels", "channel", "channelKey"].some((word) => words.has(word));

const shown = (path: Path): string => path.join(".").replaceAll(".[]", "[]");

/** Settings that no code reads and that nothing is reported about. */
export function unreadSettings(): readonly string[] {
  const files = readsIn(ROOT, ["src", "plugins"], (path) => !DECLARING.some((place) => place.test(path)));
  const areas = UNAVAILABLE.flatMap(({ paths }) => paths.map((path) => path.split(".")));
  const isReported = (path: Path): boolean => areas.some((area) => area.every((part, at) => (part === "*" ? path[at] !== undefined : part === path[at])));
  const unread = [...settingsOf(configSchema as Schema), ...channelSettings()]
    .filter((path) => !RECORDS.test(path.join(".")) && !PLACES.has(path.at(-1)!) && !isReported(path) && !isRead(path, files))
    .map(shown);
  return [...new Set(unread)].sort();
}

interface Member {
  readonly name: string;
  readonly type: string;
}

/** Interfaces of the channel contract, by name. */
function contract(): ReadonlyMap<string, readonly Member[]> {
  const folder = join(ROOT, "src/protocol/vocabulary/channel");
  const found = new Map<string, readonly Member[]>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
    const code = readFileSync(join(folder, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    for (const [, owner, body] of code.matchAll(/export interface (Channel\w+)[^{]*\{([\s\S]*?)\n\}/g)) {
      found.set(
        owner!,
        [...body!.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]\s*([^;\n]*)/gm)].map(([, name, type]) => ({ name: name!, type: type! })),
      );
    }
  }
  return found;
}

/** Facts that a channel says about itself, for people; and what every delivery here is. */
const FACTS = new Set(["id", "meta", "capabilities", "gatewayMethods", "outbound.deliveryMode"]);

/** Members of the contract with channels that nobody calls. */
export function uncalledMembers(): readonly string[] {
  const interfaces = contract();
  const files = readsIn(ROOT, ["src"], (path) => !/^src\/(?:protocol\/vocabulary|plugins\/(?:sdk|create))\/|^src\/plugins\/registry\/uncalled\.ts$/.test(path));
  const isPart = (name: string): boolean =>
    files.some(({ pairs }) => [...pairs].some((pair) => /(?:plugin|channel)\.\w+$/i.test(pair) && pair.endsWith(`.${name}`)));
  const uncalled = (interfaces.get("ChannelPlugin") ?? []).flatMap(({ name: slot, type }) => {
    if (FACTS.has(slot)) return [];
    const members = interfaces.get(/Channel\w+(?:Adapter)/.exec(type)?.[0] ?? "");
    if (!members) return isPart(slot) ? [] : [slot];
    return members
      .filter(({ name }) => !files.some(({ names, pairs, words }) => pairs.has(`${slot}.${name}`) || (names.has(name) && words.has(slot))))
      .map(({ name }) => `${slot}.${name}`);
  });
  return uncalled.filter((path) => !FACTS.has(path)).sort();
}

/** One row for each feature that is not there, with its settings. */
const areaRows = (): string =>
  UNAVAILABLE.map(({ name, paths, instead }) => `| ${name} | ${paths.map((path) => `\`${path}\``).join(", ")} | ${instead ?? ""} |`).join("\n");

const listed = (names: readonly string[]): string => names.map((name) => `- \`${name}\``).join("\n");

/** Settings and members on a page. */
const namesOn = (text: string): readonly string[] => [...text.matchAll(/(?<=[-,|] )`([^`]+)`/g)].map(([, name]) => name!);

/** Names that the page before did not have. */
export function added(before: string, after: string): readonly string[] {
  const earlier = namesOn(before);
  const isNew = (name: string): boolean => !earlier.some((known) => name === known || name.startsWith(`${known}.`));
  return namesOn(after).filter(isNew);
}

export function page(): string {
  return `# Not supported

Made by \`scripts/unread.ts\`: what is accepted, so that configurations and plugins of the reference system load, and has no effect here. The lists may only get shorter.

## Settings

These settings, and everything below them, have no effect. \`openclaw config validate\`, \`openclaw doctor\` and the log of a start warn when one is set. Every other setting is read.

| feature | settings | instead |
| --- | --- | --- |
${areaRows()}

## Members of the channel contract

A channel plugin may bring these; nobody calls them. \`openclaw plugins doctor\` and the log of a start name the plugins that do.

${listed(UNCALLED)}

## Push notifications

A phone that connects as a node may register for push notifications (\`push.apns.register\`). Its address is stored, and nothing is sent to it: the method \`push.test\` answers that it is unavailable. Keep the app connected, or let the agent write to you in a chat.

## Members of the runtime

Older versions carried some channels themselves, and gave their plugins these members of \`api.runtime\`. Here they fail with \`UNAVAILABLE\`, because the gateway runs these channels itself and has no LINE channel. The \`configure\` function of \`telegramOnboardingAdapter\` and the like does the same; \`openclaw channels add\` sets up a channel. Sending (\`sendMessageTelegram\`, \`sendPollDiscord\` and the like), probes, directories and lookups work, except for a plugin that replaces the channel of its own name.

${listed(ABSENT)}
`;
}

if (import.meta.main) {
  const made = page();
  const unread = unreadSettings();
  const uncalled = uncalledMembers().filter((name) => !(UNCALLED as readonly string[]).includes(name));
  const more = existsSync(PAGE) ? added(readFileSync(PAGE, "utf8"), made) : [];
  if (unread.length + uncalled.length + more.length === 0) writeFileSync(PAGE, made);
  else {
    if (unread.length > 0) console.error(`accepted and read by nobody: ${unread.join(", ")}. Read it, or do not accept it`);
    if (uncalled.length > 0) console.error(`called by nobody: ${uncalled.join(", ")}. Call it, or take it out of the contract`);
    if (more.length > 0) console.error(`new among what is not supported: ${more.join(", ")}. The page may only lose names`);
    process.exitCode = 1;
  }
}
