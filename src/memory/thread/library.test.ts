import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openStore, transcriptFile, type EntryInput, type Store } from "../../store/index.ts";
import { createAnalyser } from "../text/analyser.ts";
import { createConcepts } from "../text/concepts.ts";
import type { SearchHit, SearchRequest } from "../types.ts";
import { openLibrary, type Library } from "./library.ts";
import type { LibrarySettings } from "./library-settings.ts";
import type { Steps } from "./sync-notes.ts";

let folder: string;
let store: Store;
let library: Library | undefined;
const notices: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memory-library-"));
  mkdirSync(join(folder, "workspace", "memory"), { recursive: true });
  store = await openStore({ stateDir: join(folder, "state"), clock: systemClock });
  notices.length = 0;
});
afterEach(async () => {
  library?.[Symbol.dispose]();
  library = undefined;
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function open(over: Partial<LibrarySettings> = {}): Library {
  library?.[Symbol.dispose]();
  const settings: LibrarySettings = {
    agentId: "main",
    file: join(folder, "state", "memory", "main.sqlite"),
    stateDir: join(folder, "state"),
    workspace: join(folder, "workspace"),
    extraPaths: [],
    sources: ["memory", "sessions"],
    chunking: { tokens: 400, overlap: 80 },
    watch: false,
    watchDebounceMs: 10,
    ...over,
  };
  const analyser = createAnalyser();
  library = openLibrary(settings, {
    analyser,
    concepts: createConcepts("en: pet dog cat puppy", analyser),
    learned: undefined,
    now: () => Date.now(),
    changed: () => {},
    notice: (message) => notices.push(message),
  });
  return library;
}

function run<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const REQUEST: SearchRequest = {
  query: "",
  maxResults: 10,
  minScore: 0,
  sources: ["memory", "sessions"],
  scope: { notes: true, sessions: "all" },
  now: Date.UTC(2026, 10, 17),
  zoneSeconds: 0,
  ranking: { candidateMultiplier: 4 },
};
const find = (query: string, over: Partial<SearchRequest> = {}): readonly SearchHit[] => library!.search({ ...REQUEST, query, ...over }).hits;
const note = (name: string, text: string): void => writeFileSync(join(folder, "workspace", name), text);

let entries = 0;
function message(role: "user" | "assistant", text: string, at = "2026-11-01T10:00:00.000Z"): EntryInput {
  entries += 1;
  const id = entries.toString(16).padStart(8, "0");
  return {
    id,
    type: "message",
    line: JSON.stringify({ type: "message", id, parentId: null, timestamp: at, message: { role, content: [{ type: "text", text }] } }),
  };
}

async function talk(key: string, sessionId: string, ...messages: readonly EntryInput[]): Promise<string> {
  const file = transcriptFile("main", sessionId);
  const existing = await store.read("sessions.get", { key });
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: "2026-11-01T09:00:00.000Z" });
  const leafId = (await store.read("transcripts.get", { file }))?.leafId;
  await store.commit([
    ...(existing ? [] : [["sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt: 1 }, version: 0 }] as const]),
    ["transcripts.ensure", { file, agentId: "main", sessionId, header }],
    ["transcripts.append", { file, entries: messages.map((one, at) => ({ ...one, parentId: messages[at - 1]?.id ?? leafId })) }],
  ]);
  return file;
}

test("notes in all places are found, that of today before noon too, with the lines that hold the answer", () => {
  note("MEMORY.md", "# People\n\nThe dentist is Dr. Ostrova.\n");
  note("memory/2026-10-01.md", "Bought a kayak from Lena.\n");
  note("memory/2026-11-17.md", "- 00:10 The rowing club meets at the old lock.\n");
  mkdirSync(join(folder, "extra"));
  writeFileSync(join(folder, "extra", "recipes.md"), "Sourdough needs twelve hours.\n");
  open({ extraPaths: [join(folder, "extra")] });
  const report = run(library!.sync());
  expect(report).toMatchObject({ files: 4, changed: 4, issues: [] });
  expect(find("rowing club")[0]!.path).toBe("memory/2026-11-17.md");
  expect(find("dentist")[0]).toMatchObject({ path: "MEMORY.md", source: "memory", heading: "People" });
  expect(find("kayak")[0]).toMatchObject({ path: "memory/2026-10-01.md", startLine: 1, at: "2026-10-01T12:00:00.000Z" });
  expect(find("sourdough")[0]!.path).toBe(join(folder, "extra", "recipes.md"));
});

test("an unchanged file is not indexed again, a changed one is, a removed one is gone", () => {
  note("memory/a.md", "alpha\n");
  note("memory/b.md", "beta\n");
  open();
  run(library!.sync());
  expect(run(library!.sync())).toMatchObject({ files: 2, changed: 0, removed: 0 });
  note("memory/a.md", "gamma\n");
  rmSync(join(folder, "workspace", "memory", "b.md"));
  expect(run(library!.sync())).toMatchObject({ files: 1, changed: 1, removed: 1 });
  expect(find("alpha beta")).toEqual([]);
  expect(find("gamma")).toHaveLength(1);
});

test("a change within the same tick of the file system's clock is noticed", () => {
  const at = new Date();
  note("memory/a.md", "alpha\n");
  utimesSync(join(folder, "workspace", "memory", "a.md"), at, at);
  open();
  run(library!.sync());
  note("memory/a.md", "omega\n");
  utimesSync(join(folder, "workspace", "memory", "a.md"), at, at);
  run(library!.sync());
  expect(find("omega")).toHaveLength(1);
  expect(find("alpha")).toEqual([]);
});

test("what a note no longer says is never answered, also when no change was noticed", () => {
  note("memory/a.md", "the code is swordfish\n");
  open();
  run(library!.sync());
  note("memory/a.md", "nothing here any more, and longer than before\n");
  expect(find("code swordfish")).toEqual([]);
  rmSync(join(folder, "workspace", "memory", "a.md"));
  expect(find("nothing longer before")).toEqual([]);
});

test.each([
  ["text in windows-1252", Buffer.from("Jetzt Tür und Öl und Straße\n", "latin1"), "Straße", 1],
  ["text in UTF-16", Buffer.from("\uFEFFJetzt eine Straße\n", "utf16le"), "Straße", 1],
  ["no text", Buffer.from([0, 1, 2, 0xff, 0xfe, 0]), "Straße", 0],
])("what a note said is gone from search and index when it turned into %s", (_what, bytes, query, found) => {
  const file = join(folder, "workspace", "memory", "a.md");
  note("memory/a.md", "the code is swordfish\n");
  open();
  run(library!.sync());
  writeFileSync(file, bytes);
  expect(find("code swordfish")).toEqual([]);
  expect(run(library!.sync()).issues).toHaveLength(1 - found);
  expect(find("code swordfish")).toEqual([]);
  expect(find(query)).toHaveLength(found);
  expect(library!.counts().chunks).toBe(found);
});

test("files that are no notes are named with the reason and left out: binary, too large, links, pipes, sockets, missing and bad paths", async () => {
  const memory = join(folder, "workspace", "memory");
  note("memory/binary.md", "a\0b");
  note("memory/large.md", "");
  truncateSync(join(memory, "large.md"), 200 * 1024 * 1024);
  writeFileSync(join(folder, "outside.md"), "secret outside\n");
  symlinkSync(join(folder, "outside.md"), join(memory, "link.md"));
  mkdirSync(join(folder, "elsewhere"));
  writeFileSync(join(folder, "elsewhere", "deep.md"), "secret elsewhere\n");
  symlinkSync(join(folder, "elsewhere"), join(memory, "linked"));
  symlinkSync(join(folder, "outside.md"), join(memory, "picture.png"));
  symlinkSync(join(folder, "outside.md"), join(folder, "workspace", "MEMORY.md"));
  execFileSync("mkfifo", [join(memory, "pipe.md")]);
  const server = createServer().listen(join(memory, "socket.md"));
  await once(server, "listening");
  const long = join(folder, "x".repeat(300));
  open({ extraPaths: [join(folder, "nowhere"), long] });
  const { issues } = run(library!.sync());
  server.close();
  const link = "a symbolic link, which is not followed; copy the file here or add its target to memorySearch.extraPaths";
  expect(Object.fromEntries(issues.map(({ path, why }) => [path, why]))).toEqual({
    "MEMORY.md": link,
    "memory/binary.md": "binary, not text",
    "memory/large.md": "too large: 200 MB; the limit is 16 MB",
    "memory/link.md": link,
    "memory/linked": link,
    "memory/pipe.md": "a pipe",
    "memory/socket.md": "a socket",
    [join(folder, "nowhere")]: "not found",
    [long]: expect.stringContaining("not readable: ENAMETOOLONG"),
  });
  expect(find("secret outside")).toEqual([]);
  expect(find("secret elsewhere")).toEqual([]);
});

test("notes in other encodings are found by all of their words: windows-1252, UTF-16, UTF-8 with a broken byte", () => {
  const write = (name: string, bytes: Buffer): void => writeFileSync(join(folder, "workspace", "memory", name), bytes);
  write("latin.md", Buffer.from("Der Schlüssel liegt im Café – Straße 4\n".replace("–", "\x96"), "latin1"));
  write("wide.md", Buffer.from("\uFEFFDer Töpfer heißt Jürgen\n", "utf16le"));
  write("broken.md", Buffer.concat([Buffer.from("Die Bäckerei öffnet früh "), Buffer.from([0xff]), Buffer.from(" in der Mühle\n")]));
  open();
  expect(run(library!.sync()).issues).toEqual([]);
  expect(find("Schlüssel Straße")[0]).toMatchObject({ path: "memory/latin.md", snippet: expect.stringContaining("Schlüssel liegt im Café – Straße") });
  expect(find("Töpfer Jürgen")[0]).toMatchObject({ path: "memory/wide.md", snippet: "Der Töpfer heißt Jürgen" });
  expect(find("Bäckerei Mühle")[0]).toMatchObject({ path: "memory/broken.md", snippet: expect.stringContaining("Bäckerei öffnet früh") });
});

test("messages are found with their entry, speaker and neighbours; prompts and tools are not", async () => {
  const asked = message("assistant", "And what is the dog called?");
  const answer = message("user", "Biscuit");
  await talk("agent:main:main", "s1", message("user", "We got a puppy from the shelter"), asked, answer);
  await talk("agent:main:telegram:group:1", "s2", message("user", "Ravi: I will bring the samosas"));
  open();
  run(library!.sync());
  const [hit] = find("name of our dog").filter(({ snippet }) => snippet === "Biscuit");
  expect(hit).toMatchObject({
    source: "sessions",
    sessionKey: "agent:main:main",
    sessionId: "s1",
    entryId: answer.id,
    startLine: 4,
    before: { text: "And what is the dog called?" },
  });
  expect(find("samosas")[0]).toMatchObject({ speaker: "Ravi", snippet: "I will bring the samosas" });
  expect(find("Ravi")[0]).toMatchObject({ speaker: "Ravi", snippet: "I will bring the samosas" });
});

test("a transcript that grew is followed from where it was, without anything twice", async () => {
  const file = await talk("agent:main:main", "s1", message("user", "first zebra"));
  open();
  run(library!.sync());
  await talk("agent:main:main", "s1", message("user", "second walrus"));
  library!.touched([file]);
  run(library!.catchUp());
  expect(find("walrus")[0]!.snippet).toBe("second walrus");
  expect(find("zebra")[0]!.snippet).toBe("first zebra");
  expect(library!.counts()).toMatchObject({ chunks: 2 });
});

test("scope: only the sessions and notes that are allowed", async () => {
  note("MEMORY.md", "the boat is green\n");
  await talk("agent:main:a", "s1", message("user", "the boat is red"));
  await talk("agent:main:b", "s2", message("user", "the boat is blue"));
  open();
  run(library!.sync());
  const texts = (scope: SearchRequest["scope"]): readonly string[] =>
    find("boat", { scope })
      .map(({ snippet }) => snippet.trim().split(" ").at(-1)!)
      .toSorted();
  expect(texts({ notes: true, sessions: "all" })).toEqual(["blue", "green", "red"]);
  expect(texts({ notes: false, sessions: ["agent:main:a"] })).toEqual(["red"]);
  expect(texts({ notes: true, sessions: "none" })).toEqual(["green"]);
  expect(texts({ notes: false, sessions: [] })).toEqual([]);
});

test("a session that was reset keeps its key in the index, also in one that is made again; a deleted one is gone", async () => {
  const file = await talk("agent:main:main", "s1", message("user", "the old lighthouse"));
  open();
  run(library!.sync());
  await store.commit([
    ["sessions.put", { key: "agent:main:main", agentId: "main", entry: { sessionId: "s9", updatedAt: 2 } }],
    ["transcripts.archive", { file, reason: "reset" }],
  ]);
  library!.touched(undefined);
  run(library!.catchUp());
  const own = { notes: false, sessions: ["agent:main:main"] };
  expect(find("lighthouse", { scope: own })).toHaveLength(1);
  run(library!.sync({ rebuild: true }));
  expect(find("lighthouse", { scope: own })).toHaveLength(1);
  const other = await talk("agent:main:x", "s3", message("user", "a secret submarine"));
  await store.write("transcripts.archive", { file: other, reason: "deleted" });
  library!.touched(undefined);
  run(library!.catchUp());
  expect(find("submarine")).toEqual([]);
});

test("a deleted transcript is not answered from, also when nothing was noticed", async () => {
  const file = await talk("agent:main:x", "s3", message("user", "a secret submarine"));
  open();
  run(library!.sync());
  await store.write("transcripts.remove", { file });
  expect(find("submarine")).toEqual([]);
});

test.each([
  ["removed", (file: string) => rmSync(file)],
  ["torn", (file: string) => truncateSync(file, 5000)],
  ["no database", (file: string) => writeFileSync(file, "hello, this is no database at all, only some text".repeat(200))],
])("an index that is %s is made again", (_name, damage) => {
  note("MEMORY.md", "a purple elephant\n");
  const { file } = open().settings;
  run(library!.sync());
  library![Symbol.dispose]();
  library = undefined;
  for (const ending of ["-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
  damage(file);
  open();
  run(library!.sync());
  expect(find("purple elephant")).toHaveLength(1);
});

test("other chunk sizes make a new index, and the one before answers until it is complete", () => {
  note("MEMORY.md", "a purple elephant\n");
  const { file } = open().settings;
  run(library!.sync());
  open({ chunking: { tokens: 100, overlap: 10 } });
  expect(notices.join()).toContain("being rebuilt");
  run(library!.sync());
  expect(find("purple elephant")).toHaveLength(1);
  expect(readdirSync(join(file, "..")).filter((name) => name.includes(".new"))).toEqual([]);
});

test("of text that was removed nothing is left in the files of the index", async () => {
  note("memory/a.md", "the canary xylophonequartz sings\n");
  note("memory/b.md", "another note stays\n");
  open();
  run(library!.sync());
  rmSync(join(folder, "workspace", "memory", "a.md"));
  run(library!.sync());
  library!.open.index.compact();
  const { file } = library!.settings;
  for (const name of readdirSync(join(file, ".."))) {
    const bytes = readFileSync(join(file, "..", name)).toString("latin1");
    expect(bytes, name).not.toContain("xylophon");
    expect(bytes, name).not.toContain("canari");
  }
});

test.each([
  "",
  "   ",
  '"',
  "AND OR NOT NEAR(",
  "a* ^b : {c}",
  "'; DROP TABLE passages; --",
  "🙂🙃",
  "مرحبا بالعالم",
  "\0\0",
  "x".repeat(100_000),
  "wort ".repeat(20_000),
])("any text can be asked for: %.20s", (query) => {
  note("MEMORY.md", "something to find 🙂\n");
  open();
  run(library!.sync());
  expect(Array.isArray(find(query))).toBe(true);
  expect(find("something")).toHaveLength(1);
});

test("a newer statement that replaces an older one stands before it, and both say so", async () => {
  await talk("agent:main:main", "s1", message("user", "My phone number is 0171 555 201", "2026-01-05T10:00:00.000Z"), message("assistant", "Noted."));
  await talk("agent:main:two", "s2", message("user", "My phone number is 0160 777 999 now", "2026-06-05T10:00:00.000Z"), message("assistant", "Updated."));
  open();
  run(library!.sync());
  const hits = find("what is my phone number").filter(({ role }) => role === "user");
  expect(hits.map(({ snippet }) => snippet.slice(19))).toEqual(["0160 777 999 now", "0171 555 201"]);
  expect(hits[0]!.supersedes).toBe(`sessions/s1.jsonl#L2`);
  expect(hits[1]!.supersededBy).toBe(`sessions/s2.jsonl#L2`);
});

test("a note of a later day replaces what an earlier one says, and what is asked again is no answer", async () => {
  note("memory/2026-03-02.md", "# Workshop\n\nAlarm code of the workshop is 4471-B.\n");
  note("memory/2026-10-14.md", "# News\n\nPaid the rent.\nAlarm code of the workshop changed from 4471-B to 9023-K.\n");
  await talk("agent:main:main", "s1", message("user", "What is the alarm code of the workshop?"));
  open();
  run(library!.sync());
  const hits = find("what is the alarm code of the workshop", { answering: "s1" });
  expect(hits.map(({ path }) => path)).toEqual(["memory/2026-10-14.md", "memory/2026-03-02.md"]);
  expect(hits[0]).toMatchObject({ supersedes: "memory/2026-03-02.md#L1-L3", startLine: 1, endLine: 4 });
});

test("what a channel adds to a message for the model is no part of what was said", async () => {
  const data = 'Conversation (untrusted, for context only):\n```json\n{"conversation_label":"#boats"}\n```\n\n';
  await talk("agent:main:irc:group:boats", "s1", message("user", `${data}[Irc #boats 2026-11-01 10:00 UTC] ann: the parrot is golden`));
  open();
  run(library!.sync());
  expect(find("golden parrot")[0]).toMatchObject({ speaker: "ann", snippet: "the parrot is golden" });
  expect(find("conversation label")).toEqual([]);
});

test("appending to a note keeps what was in it", () => {
  note("memory/log.md", "one penguin\n");
  open();
  run(library!.sync());
  appendFileSync(join(folder, "workspace", "memory", "log.md"), "two herons\n");
  run(library!.sync());
  expect(find("penguin")).toHaveLength(1);
  expect(find("herons")).toHaveLength(1);
});
