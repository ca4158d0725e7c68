import { isRecord } from "../../../base/records.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { browserCommand, needed, numberOf } from "./ask.ts";

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "-");

function table(io: Io, header: readonly string[], rows: readonly (readonly string[])[], empty: string): void {
  io.out(rows.length === 0 ? `${empty}\n` : formatTable(header, rows, { style: createStyle(io.color), columns: io.columns }));
}

const records = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export const status = browserCommand({
  examples: [{ line: "openclaw browser status", does: "Show whether a browser is running, and which one" }],
  ask: () => ({ method: "GET", path: "/" }),
  print(io, answer) {
    const shown = ["profile", "running", "tabs", "pid", "chosenBrowser", "detectedExecutablePath", "headless", "noSandbox", "cdpUrl", "userDataDir"];
    for (const name of shown) if (answer[name] !== null) io.out(`${name}: ${text(answer[name])}\n`);
    if (answer["chosenBrowser"] === null && answer["cdpUrl"] === null) io.out("No browser found. Install Chromium or Chrome, or set browser.executablePath\n");
  },
});

const done = (sentence: string) => (io: Io) => io.out(`${sentence}\n`);

export const start = browserCommand({ ask: () => ({ path: "/start" }), print: done("Started") });
export const stop = browserCommand({
  ask: () => ({ path: "/stop" }),
  print: (io, answer) => io.out(answer["stopped"] === true ? "Stopped\n" : "Not running\n"),
});
export const resetProfile = browserCommand({ ask: () => ({ path: "/reset-profile" }), print: (io, answer) => io.out(`Removed ${text(answer["removed"])}\n`) });

export const profiles = browserCommand({
  examples: [{ line: "openclaw browser profiles", does: "List profiles" }],
  ask: () => ({ method: "GET", path: "/profiles" }),
  print(io, answer) {
    const rows = records(answer["profiles"]).map((row) => [
      `${text(row["name"])}${row["isDefault"] === true ? " (default)" : ""}`,
      row["running"] === true ? "running" : "stopped",
      text(row["tabCount"]),
      text(row["color"]),
      row["isRemote"] === true ? text(row["cdpUrl"]) : "here",
    ]);
    table(io, ["Profile", "State", "Tabs", "Color", "Browser"], rows, "No profiles");
  },
});

export const createProfile = browserCommand({
  options: {
    name: { type: "string", value: "name", help: "Name: lower-case letters, digits and dashes" },
    color: { type: "string", value: "#rrggbb", help: "Window color" },
    "cdp-url": { type: "string", value: "url", help: "URL of a browser that runs elsewhere" },
    driver: { type: "string", value: "name", help: "openclaw or extension" },
  },
  ask: ({ name, color, "cdp-url": cdpUrl, driver }) => ({ path: "/profiles/create", params: { name: needed(name, "--name <name>"), color, cdpUrl, driver } }),
  print: (io, answer) =>
    io.out(
      `Created the profile ${text(answer["profile"])}: ${answer["cdpUrl"] === null ? `a browser of its own, port ${text(answer["cdpPort"])}` : text(answer["cdpUrl"])}\n`,
    ),
});

export const deleteProfile = browserCommand({
  options: { name: { type: "string", value: "name", help: "Name" } },
  ask: ({ name }) => ({ method: "DELETE", path: `/profiles/${encodeURIComponent(needed(name, "--name <name>"))}` }),
  print: (io, answer) => io.out(`Deleted the profile ${text(answer["profile"])} and what it had stored\n`),
});

export const tabs = browserCommand({
  examples: [{ line: "openclaw browser tabs --json", does: "Print JSON" }],
  ask: () => ({ method: "GET", path: "/tabs" }),
  print(io, answer) {
    const rows = records(answer["tabs"]).map((row, at) => [
      String(at),
      `${text(row["targetId"])}${row["current"] === true ? " *" : ""}`,
      text(row["title"]),
      text(row["url"]),
    ]);
    table(io, ["#", "Tab", "Title", "Address"], rows, answer["running"] === true ? "No tabs" : "The browser is not running");
  },
});

export const open = browserCommand({
  positionals: "<url>",
  ask: (_values, [url]) => ({ path: "/tabs/open", params: { url: needed(url, "a URL") }, timeoutMs: 20_000 }),
});
export const focus = browserCommand({
  positionals: "<tab>",
  ask: (_values, [tab]) => ({ path: "/tabs/focus", params: { targetId: needed(tab, "a tab, such as t1") } }),
});
export const close = browserCommand({
  positionals: "[tab]",
  ask: ({ "target-id": id }, [tab = id]) =>
    tab === undefined ? { path: "/act", params: { kind: "close" } } : { method: "DELETE", path: `/tabs/${encodeURIComponent(tab)}` },
});

export const tabNew = browserCommand({ positionals: "[url]", ask: (_values, [url]) => ({ path: "/tabs/action", params: { action: "new", url } }) });
const indexOf = (word: string | undefined): number | undefined => numberOf(word, "the number of a tab");
export const tabSelect = browserCommand({
  positionals: "<number>",
  ask: (_values, [at]) => ({ path: "/tabs/action", params: { action: "select", index: indexOf(needed(at, "the number of a tab")) } }),
});
export const tabClose = browserCommand({
  positionals: "[number]",
  ask: (_values, [at]) => ({ path: "/tabs/action", params: { action: "close", index: indexOf(at) } }),
});

export const consoleMessages = browserCommand({
  options: { level: { type: "string", value: "level", help: "error, warning or info" } },
  ask: ({ level }) => ({ method: "GET", path: "/console", params: { level } }),
  print: (io, answer) =>
    table(
      io,
      ["Level", "Message"],
      records(answer["messages"]).map((row) => [text(row["level"]), text(row["text"])]),
      "No messages",
    ),
});

export const errors = browserCommand({
  ask: () => ({ method: "GET", path: "/errors" }),
  print: (io, answer) =>
    table(
      io,
      ["Error"],
      records(answer["errors"]).map((row) => [text(row["text"])]),
      "No errors",
    ),
});

export const requests = browserCommand({
  options: { filter: { type: "string", value: "text", help: "Only URLs that contain this text" } },
  ask: ({ filter }) => ({ method: "GET", path: "/requests", params: { filter } }),
  print(io, answer) {
    const rows = records(answer["requests"]).map((row) => [text(row["method"]), text(row["status"] ?? row["failure"]), text(row["kind"]), text(row["url"])]);
    table(io, ["Method", "Status", "Kind", "Address"], rows, "No requests");
  },
});
