import { fieldsOf, textOf } from "../model/said.ts";

const linesOf = (text: string, mark: string): string[] =>
  text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => mark + line);

/** Lines of both texts with what stays the same at the beginning and the end once. */
function between(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = [...old.slice(start, old.length - end).map((line) => `-${line}`), ...now.slice(start, now.length - end).map((line) => `+${line}`)];
  return [...old.slice(0, start).map((line) => ` ${line}`), ...middle, ...old.slice(old.length - end).map((line) => ` ${line}`)].join("\n");
}

/** What a call changes in a file, as lines of a diff; undefined when it is no change of a file. What the tool reported is preferred to what was asked for. */
export function differenceOf(name: string, args: unknown, details?: unknown): string | undefined {
  const reported = textOf(fieldsOf(details)["diff"]);
  if (reported !== "") return reported;
  const fields = fieldsOf(args);
  if (name === "edit") {
    const before = textOf(fields["oldText"]) || textOf(fields["old_string"]);
    const after = textOf(fields["newText"]) || textOf(fields["new_string"]);
    return before === "" && after === "" ? undefined : between(before, after);
  }
  if (name === "apply_patch") return textOf(fields["input"]) || textOf(fields["patch"]) || undefined;
  if (name === "write") return linesOf(textOf(fields["content"]), "+").join("\n") || undefined;
  return undefined;
}
