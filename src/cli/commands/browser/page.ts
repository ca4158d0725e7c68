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
    limit: value("n", "Maximum number of lines"),
    interactive: flag("Interactive elements only"),
    compact: flag("Leave out empty containers"),
    depth: value("n", "Maximum depth"),
    selector: value("css", "Only this part of the page"),
    frame: value("css", "Inside this frame"),
    labels: flag("Add a screenshot with the refs"),
    efficient: flag("Short form: interactive elements, at most 10,000 characters"),
    out: value("file", "Write to this file"),
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
    "full-page": flag("Whole page, not only the visible part"),
    ref: value("ref", "Only this element"),
    element: value("css", "Only the first element that matches a selector"),
    type: value("kind", "png (default) or jpeg"),
  },
  ask: ({ "full-page": fullPage, ref, element, type }) => ({ path: "/screenshot", params: { fullPage, ref, element, type }, timeoutMs: PAGE_MS }),
  print: printPath,
});

export const pdf = browserCommand({ ask: () => ({ path: "/pdf", timeoutMs: 2 * PAGE_MS }), print: printPath });

export const responseBody = browserCommand({
  positionals: "<url>",
  options: { "max-chars": value("n", "Maximum number of characters (default 200000)"), "timeout-ms": value("ms", "Time to wait, in ms (default 20000)") },
  ask: ({ "max-chars": most, "timeout-ms": ms }, [url]) => ({
    path: "/response/body",
    params: { url: needed(url, "part of the URL"), maxChars: numberOf(most, "--max-chars") },
    timeoutMs: numberOf(ms, "--timeout-ms") ?? PAGE_MS,
  }),
  print: (io, answer) => io.out(`${isRecord(answer["response"]) ? String(answer["response"]["body"]) : ""}\n`),
});

export const navigate = browserCommand({
  positionals: "<url>",
  ask: (_values, [url]) => ({ path: "/navigate", params: { url: needed(url, "a URL") }, timeoutMs: PAGE_MS }),
});

/** One action on the page. */
const act = (kind: string, params: Readonly<Record<string, unknown>>, timeoutMs = PAGE_MS) => ({ path: "/act", params: { kind, ...params }, timeoutMs });
const REF = "a ref of a snapshot, such as e12";

export const click = browserCommand({
  positionals: "<ref>",
  options: {
    double: flag("Double-click"),
    button: value("side", "Mouse button: left, right or middle"),
    modifiers: value("keys", "Modifier keys, such as Control,Shift"),
  },
  ask: ({ double, button, modifiers }, [ref]) => act("click", { ref: needed(ref, REF), doubleClick: double, button, modifiers: modifiers?.split(",") }),
});

export const type = browserCommand({
  positionals: "<ref> <text>",
  options: { submit: flag("Press Enter afterwards"), slowly: flag("Type key by key") },
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
  options: {
    ref: value("ref", "Element that opens the file chooser"),
    "input-ref": value("ref", "File input element"),
    element: value("css", "File input, by selector"),
  },
  ask: ({ ref, "input-ref": inputRef, element }, paths) => ({
    path: "/hooks/file-chooser",
    params: { paths: paths.map((path) => resolve(path)), ref, inputRef, element },
    timeoutMs: LONG_MS,
  }),
});

export const dialog = browserCommand({
  options: { accept: flag("Accept the dialog"), dismiss: flag("Dismiss the dialog"), prompt: value("text", "Text to enter") },
  ask({ accept, dismiss, prompt }) {
    if (accept === dismiss) throw new AppError("INVALID_INPUT", "expected either --accept or --dismiss");
    return { path: "/hooks/dialog", params: { accept: accept === true, promptText: prompt } };
  },
});

export const wait = browserCommand({
  positionals: "[selector]",
  options: {
    time: value("ms", "Time to wait, in ms"),
    text: value("text", "Wait until this text or element appears"),
    "text-gone": value("text", "Wait until this text disappears"),
    url: value("glob", "Wait until the URL matches"),
    load: value("state", "Wait for: load, domcontentloaded or networkidle"),
    fn: value("js", "Wait until this expression is true"),
    "timeout-ms": value("ms", "Give up after this many ms (default 20000)"),
  },
  ask: ({ time, text, "text-gone": textGone, url, load, fn, "timeout-ms": ms }, [selector]) =>
    act("wait", { timeMs: numberOf(time, "--time"), text, textGone, url, loadState: load, fn, selector }, numberOf(ms, "--timeout-ms") ?? PAGE_MS),
});

export const evaluate = browserCommand({
  options: { fn: value("js", "A function or an expression"), ref: value("ref", "Element passed to the function") },
  ask: ({ fn, ref }) => act("evaluate", { fn: needed(fn, "--fn <js>"), ref }),
});

export const download = browserCommand({
  positionals: "<ref>",
  ask: (_values, [ref]) => ({ path: "/download", params: { ref: needed(ref, REF) }, timeoutMs: LONG_MS }),
});
export const waitForDownload = browserCommand({ ask: () => ({ path: "/wait/download", timeoutMs: LONG_MS }) });
