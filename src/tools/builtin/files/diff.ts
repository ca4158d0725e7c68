const CONTEXT_LINES = 4;

/** What changed between two texts that differ in one place, with line numbers and a few lines around it. */
export function numberedDiff(before: string, after: string): { readonly diff: string; readonly firstChangedLine: number } {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const width = String(Math.max(old.length, now.length)).length;
  const line = (mark: string, at: number, text: string): string => `${mark}${String(at + 1).padStart(width)} ${text}`;
  const from = Math.max(0, start - CONTEXT_LINES);
  const lines = [
    ...now.slice(from, start).map((text, at) => line(" ", from + at, text)),
    ...old.slice(start, old.length - end).map((text, at) => line("-", start + at, text)),
    ...now.slice(start, now.length - end).map((text, at) => line("+", start + at, text)),
    ...now.slice(now.length - end, now.length - end + CONTEXT_LINES).map((text, at) => line(" ", now.length - end + at, text)),
  ];
  return { diff: lines.join("\n"), firstChangedLine: start + 1 };
}
