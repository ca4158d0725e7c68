import type { Commands } from "../../../conversation/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";

type Listed = Awaited<ReturnType<Commands["list"]>>[number];
type Shown = MethodResult<"commands.list">["commands"][number];

/** `<id>` has to be given, `[text]` may be. */
const ARGUMENT = /([<[])([^<>[\]]+)[>\]]/g;

/** What a command takes, from how it is written. Choices of a command without such words are those of its first argument. */
function argsOf({ acceptsArgs, usage, choices }: Listed): Shown["args"] {
  if (!acceptsArgs) return [];
  const named = Array.from((usage ?? "[text]").matchAll(ARGUMENT), ([, sign, words = ""]) => ({ words, required: sign === "<" }));
  return named.map(({ words, required }, at) => {
    const written = /^[^\s|]+(?:\|[^\s|]+)+$/.test(words) ? words.split("|").filter((word) => word !== "…") : undefined;
    const offered = at === 0 && choices ? [...choices] : written;
    return { name: words, ...(offered ? { choices: offered } : {}), ...(required ? { required } : {}) };
  });
}

export function shownCommand(command: Listed): Shown {
  const { name, aliases, description, group, source } = command;
  return { name, aliases: [...aliases], description, category: group, source, args: argsOf(command) };
}
