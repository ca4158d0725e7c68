/** `openclaw memory` on a state folder without a gateway: what it says when there is nothing, when something does not work, and when it is asked wrongly. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { memory } from "../../src/cli/commands/groups.ts";
import { openStore } from "../../src/store/index.ts";
import { startEmbeddingServer, type EmbeddingServer } from "../fakes/embedding-server/index.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";

function open(config: object = {}, env: Readonly<Record<string, string>> = {}) {
  const at = openCommandLine<Record<string, unknown>>("memory", memory, { config: JSON.stringify(config), env });
  const workspace = join(at.stateDir, "workspace");
  const note = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  return { ...at, workspace, note };
}

const embeddings = (server: EmbeddingServer, over: object = {}): object => ({
  agents: { defaults: { memorySearch: { provider: "openai", remote: { baseUrl: `${server.origin}/v1` }, ...over } } },
});

async function embeddingServer(): Promise<EmbeddingServer> {
  const server = await startEmbeddingServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe("with nothing there", () => {
  test("every command says so, and search does not advise a lower score", async () => {
    const at = open();
    expect((await at.run("status")).out).toMatch(
      /Index +up to date[\s\S]*Embeddings +none \(optional\)[\s\S]*Nothing indexed yet\. Write a note to .*MEMORY\.md/,
    );
    expect((await at.run("search", "plumber")).out).toMatch(/^Nothing indexed yet: no notes in .*workspace and no conversations\.$/m);
    expect((await at.run("export")).err).toMatch(/^Nothing indexed for agent main/);
    expect((await at.run("suggest")).out).toMatch(/^No suggestions/);
    at.note("MEMORY.md", "The plumber is Werner.\n");
    expect((await at.run("search", "zebra")).out).toBe("No results. Use --min-score 0 to see weaker matches.\n");
    expect((await at.run("search", "zebra", "--min-score", "0")).out).toBe("No results. Try other words.\n");
  });

  test("memory that is turned off says how", async () => {
    const at = open({ agents: { defaults: { memorySearch: { enabled: false } } } });
    expect((await at.run("status")).out).toMatch(/Memory +off \(memorySearch\.enabled/);
  });
});

test("a question may look like an option", async () => {
  const at = open();
  at.note("MEMORY.md", "The plumber is called Werner Hopp.\n");
  const ran = await at.run("search", "--json", "--min-score", "0", "--", "--plumber");
  expect([ran.code, ran.err, ran.json()]).toEqual([0, "", expect.objectContaining({ results: [expect.objectContaining({ path: "MEMORY.md" })] })]);
});

describe("asked wrongly", () => {
  test.each<readonly [readonly string[], RegExp]>([
    [["search"], /expected a query, such as: .* memory search/],
    [["search", "  "], /expected a query/],
    [["search", "x", "--max-results", "0"], /--max-results takes a whole number from 1 to 200, not "0"/],
    [["search", "x", "--min-score", "2"], /--min-score takes a number from 0 to 1, not "2"/],
    [["why"], /expected a query/],
    [["eval"], /expected one file, such as: /],
    [["forget"], /expected a text to forget/],
    [["forget", "a", "--yes"], /at least 3 letters to say what to forget; "a" would match nearly everything/],
    [["status", "main"], /unexpected "main"; choose an agent with --agent/],
    [["index", "notes"], /unexpected "notes"/],
    [["export", "file.jsonl"], /unexpected "file\.jsonl"; set the file with --out/],
    [["suggest", "1"], /unexpected "1"; choose a suggestion with --accept/],
    [["suggest", "--accept", "2"], /suggestion 2 not found; there are none/],
    [["search", "x", "--agent", "nobody"], /unknown agent id "nobody"; there is main/],
    [["export", "--agent", "nobody"], /unknown agent id "nobody"; there is main/],
    [["forget", "MEMORY.md#L0", "--preview"], /MEMORY\.md has 1 line; there are no lines 0 to 0/],
    [["forget", "MEMORY.md#L7", "--preview"], /MEMORY\.md has 1 line; there are no lines 7 to 7/],
  ])("%j is refused with what to do", async (args, message) => {
    const at = open();
    at.note("MEMORY.md", "The plumber is Werner.\n");
    const { code, err } = await at.run(...args);
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    const indexes = join(at.stateDir, "memory");
    expect(existsSync(indexes) ? readdirSync(indexes) : []).not.toContain("nobody.sqlite");
  });

  test("forgetting the name of a note says how its lines are named", async () => {
    const at = open();
    at.note("MEMORY.md", "The plumber is Werner.\n");
    expect((await at.run("forget", "MEMORY.md", "--preview")).out).toContain("To remove lines of a note, name them: MEMORY.md#L1-L3.");
  });
});

test("an export that cannot be completed leaves the file of the last one, and nothing half-written", async () => {
  const at = open();
  at.note("MEMORY.md", "The plumber is Werner.\n");
  const out = join(at.home, "export");
  mkdirSync(out);
  const { code, err } = await at.run("export", "--out", out);
  expect([code, err]).toEqual([1, expect.stringContaining("could not write")]);
  expect(readdirSync(at.home).filter((name) => name.endsWith(".part"))).toEqual([]);
  const file = join(at.home, "export.jsonl");
  expect((await at.run("export", "--out", file)).err).toContain("1 passages in");
  expect(readFileSync(file, "utf8")).toContain("Werner");
});

test("index and status name what was left out, and why", async () => {
  const at = open({ agents: { defaults: { memorySearch: { extraPaths: ["handbook"] } } } });
  at.note("MEMORY.md", "The plumber is Werner.\n");
  for (const n of [1, 2, 3, 4, 5]) at.note(`memory/binary${n}.md`, "a\0b");
  symlinkSync("/etc/hosts", join(at.workspace, "memory", "link.md"));
  const brief = (await at.run("index")).out;
  expect(brief).toMatch(/✓ main: 1 note \(\d changed, 0 removed\)/);
  expect(brief).toMatch(/7 files or folders not indexed[\s\S]*… and 2 more \(--verbose names all\)/);
  const whole = (await at.run("index", "--verbose")).out;
  expect(whole).toContain("memory/binary5.md: binary, not text");
  expect(whole).toContain("memory/link.md: a symbolic link, which is not followed");
  expect(whole).toContain("handbook: not found");
  expect((await at.run("status", "--verbose")).out).toContain("memory/link.md: a symbolic link");
});

test("times are those of the configured zone, and a note keeps its day", async () => {
  const at = open({ agents: { defaults: { userTimezone: "America/New_York" } } });
  at.note("memory/2026-10-02.md", "The council wants drawings of the loft.\n");
  mkdirSync(at.stateDir, { recursive: true });
  {
    await using store = await openStore({ stateDir: at.stateDir, clock: systemClock });
    await seedSession(store, [line("m1", null, said("The loft has two windows"), 1)], "agent:main:main", "s1");
  }
  const { out } = await at.run("search", "loft", "--min-score", "0");
  const [hit] = ((await at.run("search", "loft windows", "--json", "--min-score", "0")).json() as { results: { at: string; source: string }[] }).results;
  const shown = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/New_York", dateStyle: "short", timeStyle: "short" }).format(new Date(hit!.at));
  expect(out).toMatch(/memory\/2026-10-02\.md#L1 {2}2026-10-02\n/);
  expect(out).toMatch(new RegExp(`sessions/.* {2}${shown} · user`));
  expect((await at.run("forget", "two windows", "--preview")).out).toContain(`user ${shown} sessions/`);
  expect((await at.run("status", "--verbose")).out).toMatch(/Time zone +America\/New_York/);
});

describe("embeddings", () => {
  test("the status says why they fail, since when, what to do, and how much is left", async () => {
    const server = await embeddingServer();
    server.fault = () => ({ status: 401, message: "this key is unknown" });
    const at = open(embeddings(server, { remote: { baseUrl: `${server.origin}/v1`, apiKey: "bad-key" } }));
    at.note("MEMORY.md", "The plumber is Werner.\n");
    const { out } = await at.run("status", "--deep");
    expect(out).toMatch(/Search +keywords and meaning/);
    expect(out).toMatch(/Embeddings +openai \(text-embedding-3-small\): not working since \d{4}-\d\d-\d\d \d\d:\d\d/);
    expect(out).toMatch(/Reason +openai embeddings: status 401: this key is unknown; retries in \d+ s/);
    expect(out).toMatch(/Fix +check the key: openclaw models auth add --provider openai/);
    expect(out).toMatch(/Embedded +0 passages, 1 left/);
  });

  test("a provider without a key is named with what to do", async () => {
    const at = open({ agents: { defaults: { memorySearch: { provider: "voyage" } } } });
    expect((await at.run("status")).out).toMatch(/Embeddings +voyage: not working[\s\S]*Reason +No API key found for provider "voyage"[\s\S]*Fix/);
  });

  test.each([
    ["the environment", { env: { OPENAI_API_KEY: "key-of-env" }, config: {} }, "key-of-env"],
    [
      "models.providers",
      { env: {}, config: { models: { providers: { openai: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "key-of-config", models: [] } } } } },
      "key-of-config",
    ],
    ["an auth profile", { env: {}, config: {}, profile: "key-of-profile" }, "key-of-profile"],
  ])("without a gateway their key is found in %s, and index waits until all is embedded", async (_where, { env, config, ...rest }, key) => {
    const server = await embeddingServer();
    const at = open({ ...embeddings(server), ...config }, env);
    if ("profile" in rest) {
      const folder = join(at.stateDir, "agents", "main", "agent");
      mkdirSync(folder, { recursive: true });
      const profiles = { version: 1, profiles: { "openai:default": { type: "api_key", provider: "openai", key: rest.profile } } };
      writeFileSync(join(folder, "auth-profiles.json"), JSON.stringify(profiles), { mode: 0o600 });
    }
    at.note("MEMORY.md", "# Garden\nThe quimby needs water every second evening.\n");
    expect((await at.run("index")).code).toBe(0);
    expect(server.requests[0]?.headers["authorization"]).toBe(`Bearer ${key}`);
    expect((await at.run("status")).out).toMatch(/Search +keywords and embeddings[\s\S]*Embedded +1 passage\n/);
    expect(((await at.run("search", "flemwick", "--json", "--min-score", "0")).json() as { mode: string }).mode).toBe("hybrid");
  });
});
