import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withEntries } from "./import-changes.ts";

/** The entries read from a text, and how often reading started. */
function read(text: string): { readonly entries: unknown; readonly times: number } {
  const folder = mkdtempSync(join(tmpdir(), "read-index-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "sessions.json");
  writeFileSync(path, text);
  let times = 0;
  const entries = withEntries(path, (found) => {
    times += 1;
    return Object.fromEntries(found);
  });
  return { entries, times };
}

const INDEX = {
  "agent:main:main": { sessionId: "a", updatedAt: 1, origin: { label: "} ,{ \n  }", list: [{}, [], { deep: { er: null } }] } },
  'agent:main:irc:"#odd": {': { sessionId: "b", updatedAt: 2 },
  "agent:main:empty": {},
  "agent:main:number": 5,
  "agent:main:text": "x,",
  "agent:main:list": [1, { a: 1 }],
  "agent:main:nothing": null,
  "agent:main:last": { sessionId: "c", updatedAt: 3 },
};

test("an index in the gateway's layout is read entry by entry, whatever the entries contain", () => {
  const plain = Object.fromEntries(Object.entries(INDEX).filter(([key]) => key !== "agent:main:list"));
  expect(read(JSON.stringify(plain, null, 2))).toEqual({ entries: plain, times: 1 });
  expect(read(`${JSON.stringify(plain, null, 2)}\n`)).toEqual({ entries: plain, times: 1 });
});

test.each([
  ["with a list as an entry", JSON.stringify(INDEX, null, 2)],
  ["on one line", JSON.stringify(INDEX)],
  ["indented by four", JSON.stringify(INDEX, null, 4)],
  ["with other line ends", JSON.stringify(INDEX, null, 2).replaceAll("\n", "\r\n")],
  ["with a byte order mark", `\uFEFF${JSON.stringify(INDEX, null, 2)}`],
  ["with a comment", `// mine\n${JSON.stringify(INDEX, null, 2)}`],
])("%s it is read as a whole", (_name, text) => {
  expect(read(text).entries).toEqual(INDEX);
});

test("an empty index has no entries", () => {
  expect([read("{}").entries, read("{\n}").entries]).toEqual([{}, {}]);
});

test.each(["", "[]", "5", "{", JSON.stringify(INDEX, null, 2).slice(0, -2), `${JSON.stringify(INDEX, null, 2)}\n}`, '{\n  "a": {\n    "b": 1\n'])(
  "%j is refused",
  (text) => {
    expect(() => read(text)).toThrow(/not JSON|expected an object/);
  },
);
