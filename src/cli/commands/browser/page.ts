import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { Io } from "../../io.ts";
import { browserCommand, needed, numberOf, printPage } from "./ask.ts";

const flag = (help: string) => ({ type: "boolean", help }) as const;
const value = (name: string, help: string) => ({ type: "string", value: name, help }) as const;
const PAGE_MS = 20_000;
const LONG_MS = 120_000;

export const snapshot = browserCommand({
  options: {
    format: value("kind", "ai (default) or aria"),
    limit: value("n", "at most so many lines"),
    interactive: flag("only what can be used"),
    compact: flag("without containers that say nothing"),
    depth: value("n", "at most so deep"),
    selector: value("css", "only this part of the page"),
    frame: value("css", "inside of this frame"),
    labels: flag("and a picture with the refs"),
    efficient: flag("short: what can be used, at most 10,000 characters"),
    out: value("file", "write it into a file"),
  },
  ask: ({ format, limit, depth, efficient, interactive, compact, selector, frame, labels }) => ({
    method: "GET",
    path: "/snapshot",
    params: {
      format,
      limit: numberOf(limit, "--limit"),
      depth: numberOf(depth, "--depth"),
      mode: efficient ? "efficient" : undefined,
      interactive,
      compact,
      selector,
      frame,
      labels,
    },
    timeoutMs: PAGE_MS,
  }),
  print(io, answer, { out }) {
    const { nodes, text, picture } = answer;
    const shown = Array.isArray(nodes) ? JSON.stringify(nodes, null, 2) : text;
    if (out === undefined) printPage(io, { ...answer, text: shown });
    else write(io, out, typeof shown === "string" ? shown : "");
    if (isRecord(picture) && typeof picture["path"] === "string") io.out(`${picture["path"]}\n`);
  },
});

function write(io: Io, out: string, content: string): void {
  try {
    writeFileSync(resolve(out), content);
  } catch (error) {
    throw fileError(resolve(out), "could not save it", error);
  }
  io.out(`${resolve(out)}\n`);
}

const printPath = (io: Io, answer: Readonly<Record<string, unknown>>): void => io.out(`${typeof answer["path"] === "string" ? answer["path"] : "Done"}\n`);

export const screenshot = browserCommand({
  options: {
    "full-page": flag("the whole page, not only what is in view"),
    ref: value("ref", "only this element"),
    element: value("css", "only the first element of a selector"),
    type: value("kind", "png (default) or jpeg"),
  },
  ask: ({ "full-page": fullPage, ref, element, type }) => ({ path: "/screenshot", params: { fullPage, ref, element, type }, timeoutMs: PAGE_MS }),
  print: printPath,
});

export const pdf = browserCommand({ ask: () => ({ path: "/pdf", timeoutMs: 2 * PAGE_MS }), print: printPath });

export const responseBody = browserCommand({
  positionals: "<url>",
  options: { "max-chars": value("n", "at most so many characters (default 200000)"), "timeout-ms": value("ms", "how long to wait for it (default 20000)") },
  ask: ({ "max-chars": most, "timeout-ms": ms }, [url]) => ({
    path: "/response/body",
    params: { url: needed(url, "a part of the address"), maxChars: numberOf(most, "--max-chars") },
    timeoutMs: numberOf(ms, "--timeout-ms") ?? PAGE_MS,
  }),
  print: (io, answer) => io.out(`${isRecord(answer["response"]) ? String(answer["response"]["body"]) : ""}\n`),
});

export const navigate = browserCommand({
  positionals: "<url>",
  ask: (_values, [url]) => ({ path: "/navigate", params: { url: needed(url, "an address") }, timeoutMs: PAGE_MS }),
});

/** One action on the page. */
const act = (kind: string, params: Readonly<Record<string, unknown>>, timeoutMs = PAGE_MS) => ({ path: "/act", params: { kind, ...params }, timeoutMs });
const REF = "a ref of a snapshot, such as e12";

export const click = browserCommand({
  positionals: "<ref>",
  options: { double: flag("twice"), button: value("side", "left, right or middle"), modifiers: value("keys", "such as Control,Shift") },
  ask: ({ double, button, modifiers }, [ref]) => act("click", { ref: needed(ref, REF), doubleClick: double, button, modifiers: modifiers?.split(",") }),
});

export const type = browserCommand({
  positionals: "<ref> <text>",
  options: { submit: flag("press Enter after it"), slowly: flag("key by key") },
  ask: ({ submit, slowly }, [ref, text]) => act("type", { ref: needed(ref, REF), text: text ?? "", submit, slowly }, LONG_MS),
});

export const press = browserCommand({ positionals: "<key>", ask: (_values, [key]) => act("press", { key: needed(key, "a key, such as Enter") }) });
export const hover = browserCommand({ positionals: "<ref>", ask: (_values, [ref]) => act("hover", { ref: needed(ref, REF) }) });
export const scrollIntoView = browserCommand({ positionals: "<ref>", ask: (_values, [ref]) => act("scrollIntoView", { ref: needed(ref, REF) }) });
export const highlight = browserCommand({ positionals: "<ref>", ask: (_values, [ref]) => ({ path: "/highlight", params: { ref: needed(ref, REF) } }) });
export const drag = browserCommand({
  positionals: "<from> <to>",
  ask: (_values, [from, to]) => act("drag", { startRef: needed(from, REF), endRef: needed(to, REF) }),
});
export const select = browserCommand({
  positionals: "<ref> <values...>",
  ask: (_values, [ref, ...values]) => act("select", { ref: needed(ref, REF), values }),
});
export const resize = browserCommand({
  positionals: "<width> <height>",
  ask: (_values, [width, height]) => act("resize", { width: numberOf(width, "width"), height: numberOf(height, "height") }),
});

function fieldsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `--fields is not JSON: ${text}`, { cause: error });
  }
}

export const fill = browserCommand({
  options: { fields: value("json", `fields, such as [{"ref":"e3","value":"Ada"}]`) },
  ask: ({ fields }) => act("fill", { fields: fieldsOf(needed(fields, "--fields <json>")) }),
});

export const upload = browserCommand({
  positionals: "<paths...>",
  options: { ref: value("ref", "what opens the chooser"), "input-ref": value("ref", "the field itself"), element: value("css", "the field by a selector") },
  ask: ({ ref, "input-ref": inputRef, element }, paths) => ({
    path: "/hooks/file-chooser",
    params: { paths: paths.map((path) => resolve(path)), ref, inputRef, element },
    timeoutMs: LONG_MS,
  }),
});

export const dialog = browserCommand({
  options: { accept: flag("answer yes"), dismiss: flag("answer no"), prompt: value("text", "what to write into it") },
  ask({ accept, dismiss, prompt }) {
    if (accept === dismiss) throw new AppError("INVALID_INPUT", "expected either --accept or --dismiss");
    return { path: "/hooks/dialog", params: { accept: accept === true, promptText: prompt } };
  },
});

export const wait = browserCommand({
  positionals: "[selector]",
  options: {
    time: value("ms", "so long"),
    text: value("text", "until it is there"),
    "text-gone": value("text", "until it is gone"),
    url: value("glob", "until the address is this one"),
    load: value("state", "load, domcontentloaded or networkidle"),
    fn: value("js", "until it is true"),
    "timeout-ms": value("ms", "give up after (default 20000)"),
  },
  ask: ({ time, text, "text-gone": textGone, url, load, fn, "timeout-ms": ms }, [selector]) =>
    act("wait", { timeMs: numberOf(time, "--time"), text, textGone, url, loadState: load, fn, selector }, numberOf(ms, "--timeout-ms") ?? PAGE_MS),
});

export const evaluate = browserCommand({
  options: { fn: value("js", "a function or an expression"), ref: value("ref", "the element that the function gets") },
  ask: ({ fn, ref }) => act("evaluate", { fn: needed(fn, "--fn <js>"), ref }),
});

export const download = browserCommand({
  positionals: "<ref>",
  ask: (_values, [ref]) => ({ path: "/download", params: { ref: needed(ref, REF) }, timeoutMs: LONG_MS }),
});
export const waitForDownload = browserCommand({ ask: () => ({ path: "/wait/download", timeoutMs: LONG_MS }) });
