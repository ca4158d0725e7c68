import { AppError } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import { formatPath, isObject, parsePath, parseValueText, redactConfig, valueAt, withValue, type OpenClawConfig } from "../../../config/index.ts";
import { notThere, switchedOff, type Handler, type Handling } from "../handling.ts";

const MOST_SHOWN = 6000;
const CONFIG_USAGE = "Usage: /config show [path] | set path=value | unset path";
const DEBUG_USAGE = "Usage: /debug show | set path=value | unset path | reset";

/** A setting lies nowhere near as deep. */
const MOST_PATH = 512;

function pathIn(text: string): ReturnType<typeof parsePath> {
  if (text.length > MOST_PATH) throw new AppError("INVALID_INPUT", `a path has at most ${MOST_PATH} characters, this one has ${text.length}`);
  return parsePath(text);
}

interface Asked {
  readonly verb: string;
  readonly rest: string;
}

function askedIn(args: string): Asked {
  const [, verb = "show", rest = ""] = /^(\S+)(?:\s+([\s\S]*))?$/.exec(args) ?? [];
  return { verb: verb.toLowerCase(), rest: rest.trim() };
}

/** `path=value`. Only the first `=` divides; brackets and quotes of the value are its own. */
function assignment(text: string): { readonly path: ReturnType<typeof parsePath>; readonly value: unknown } | undefined {
  const at = text.indexOf("=");
  if (at <= 0 || at === text.length - 1) return undefined;
  return { path: pathIn(text.slice(0, at).trim()), value: parseValueText(text.slice(at + 1).trim()) };
}

const asJson = (value: unknown): string => `\`\`\`json\n${clip(JSON.stringify(value, null, 2) ?? "null", MOST_SHOWN)}\n\`\`\``;

/** A value at its place, without what is secret there. */
function shownAt(path: ReturnType<typeof parsePath>, value: unknown): string {
  const root = withValue({}, path.map(String), value)?.value;
  return clip(JSON.stringify(valueAt(redactConfig(root), path.map(String))) ?? "null", MOST_SHOWN);
}

/** Why nobody may; undefined when it is switched on. */
function refusal({ ports, name }: Handling, gate: "config" | "debug"): string | undefined {
  return ports.config.current().commands?.[gate] === true ? undefined : switchedOff(name, gate);
}

/** Which setting forbids writing the configuration from a chat; undefined when none does. */
export function writesForbidden(config: OpenClawConfig, channel: string, accountId: string): string | undefined {
  const section: unknown = valueAt(config, ["channels", channel]);
  const account: unknown = valueAt(section, ["accounts", accountId]);
  if (isObject(account) && account["configWrites"] !== undefined)
    return account["configWrites"] === false ? `channels.${channel}.accounts.${accountId}.configWrites` : undefined;
  return isObject(section) && section["configWrites"] === false ? `channels.${channel}.configWrites` : undefined;
}

export const config: Handler = async (handling) => {
  const { ports, call, args } = handling;
  const no = refusal(handling, "config");
  if (no !== undefined) return no;
  const { verb, rest } = askedIn(args);
  if (verb === "show" || verb === "get") {
    const all = await ports.config.shown();
    if (rest === "") return asJson(all);
    const found = valueAt(all, pathIn(rest));
    return found === undefined ? `${rest} is not set.` : `${rest}:\n${asJson(found)}`;
  }
  if (verb !== "set" && verb !== "unset") return CONFIG_USAGE;
  const forbidden = writesForbidden(ports.config.current(), call.channel, call.accountId);
  if (forbidden !== undefined) return `The configuration cannot be changed from here: ${forbidden} is false.`;
  if (verb === "unset") {
    if (rest === "") return CONFIG_USAGE;
    const path = pathIn(rest);
    await ports.config.edit({ kind: "unset", path });
    return `Removed ${formatPath(path)}.`;
  }
  const change = assignment(rest);
  if (!change) return CONFIG_USAGE;
  await ports.config.edit({ kind: "set", ...change });
  return `Set ${formatPath(change.path)} to ${shownAt(change.path, change.value)}.`;
};

export const debug: Handler = (handling) => {
  const no = refusal(handling, "debug");
  if (no !== undefined) return no;
  const { overrides } = handling.ports.config;
  if (!overrides) return notThere("debug", "this gateway has no overrides");
  const { verb, rest } = askedIn(handling.args);
  if (verb === "show") return Object.keys(overrides.get()).length === 0 ? "There are no overrides." : asJson(redactConfig(overrides.get()));
  if (verb === "reset") {
    overrides.reset();
    return "All overrides removed.";
  }
  if (verb === "unset" && rest !== "") return overrides.unset(pathIn(rest)) ? `Removed the override of ${rest}.` : `There is no override of ${rest}.`;
  const change = verb === "set" ? assignment(rest) : undefined;
  if (!change) return DEBUG_USAGE;
  overrides.set(change.path, change.value);
  return `Override until the restart: ${formatPath(change.path)} = ${shownAt(change.path, change.value)}.`;
};
