import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

/** An installation in use, with the workspace of a second agent elsewhere. */
function used(): Place & { readonly elsewhere: string } {
  const place = makePlace();
  const elsewhere = join(place.home, "elsewhere");
  place.configure(
    `{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } }, agents: { list: [{ id: "main" }, { id: "two", workspace: "${elsewhere}" }] } }`,
  );
  for (const [folder, name] of [
    [elsewhere, "USER.md"],
    [join(place.stateDir, "workspace"), "USER.md"],
    [join(place.stateDir, "credentials"), "oauth.json"],
    [join(place.stateDir, "agents", "main", "sessions"), "a.jsonl"],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), "mine");
  }
  return { ...place, elsewhere };
}

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);
const putAway = (folder: string): readonly string[] =>
  namesIn(folder)
    .filter((name) => name.includes(".removed-"))
    .map((name) => name.replace(/\.removed-.*/, ""));

test("reset puts the configuration away; with more, conversations and credentials; with full, everything: nothing is deleted", () => {
  const place = used();
  const dry = place.cli("reset", "--scope", "config", "--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: `[dry-run] move ${place.configPath}\n` });
  expect(existsSync(place.configPath)).toBe(true);
  expect(place.cli("reset", "--scope", "config", "--yes").code).toBe(0);
  expect([existsSync(place.configPath), putAway(dirname(place.configPath)), putAway(place.stateDir)]).toEqual([false, ["openclaw.json"], []]);

  expect(place.cli("reset", "--scope", "config+creds+sessions", "--yes", "--json").code).toBe(0);
  expect(putAway(place.stateDir)).toEqual(["agents", "credentials"]);
  expect(readFileSync(join(place.stateDir, "workspace", "USER.md"), "utf8")).toBe("mine");

  const again = used();
  const { code, stdout } = again.cli("reset", "--scope", "full", "--yes", "--json");
  expect(code).toBe(0);
  const { removed } = JSON.parse(stdout) as { readonly removed: readonly { readonly from: string; readonly to: string }[] };
  expect(removed.map(({ from }) => from).toSorted()).toEqual([again.stateDir, again.elsewhere, again.configPath].toSorted());
  for (const { from, to } of removed) expect([existsSync(from), existsSync(to)]).toEqual([false, true]);
});

test("reset stops the gateway first", async () => {
  const place = used();
  await using gateway = await place.gateway();
  expect(gateway.url).toBeDefined();
  const ended = await place.start("reset", "--scope", "full", "--yes");
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining("openclaw onboard") });
  expect((await gateway.exited).code).toBe(0);
  expect(existsSync(place.stateDir)).toBe(false);
});

test("uninstall deletes what is named and nothing else; workspaces survive the state folder they lie in", () => {
  const place = used();
  const dry = place.cli("uninstall", "--state", "--dry-run", "--json");
  expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, parts: ["state"], kept: [join(place.stateDir, "workspace")] });
  expect(existsSync(place.stateDir)).toBe(true);
  const done = place.cli("uninstall", "--state", "--yes", "--json");
  expect(done.code).toBe(0);
  const { kept } = JSON.parse(done.stdout) as { readonly kept: readonly { readonly to: string }[] };
  expect([existsSync(place.stateDir), existsSync(place.configPath), existsSync(place.elsewhere)]).toEqual([false, false, true]);
  expect(readFileSync(join(kept[0]!.to, "USER.md"), "utf8")).toBe("mine");

  const again = used();
  expect(again.cli("uninstall", "--all", "--yes").code).toBe(0);
  expect([existsSync(again.stateDir), existsSync(again.configPath), existsSync(again.elsewhere), existsSync(again.home)]).toEqual([false, false, false, true]);
});

test("without a terminal nothing is removed unless it is named and said yes to; a folder that holds the home folder never is", () => {
  const place = used();
  for (const args of [
    ["reset"],
    ["reset", "--scope", "config"],
    ["reset", "--scope", "all", "--yes"],
    ["uninstall"],
    ["uninstall", "--yes"],
    ["uninstall", "--all"],
  ]) {
    expect(place.cli(...args), args.join(" ")).toMatchObject({ code: 1, stderr: expect.stringMatching(/expected|takes|is required/) });
  }
  place.configure(`{ agents: { defaults: { workspace: "${place.home}" } } }`);
  expect(place.cli("uninstall", "--workspace", "--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining("by hand") });
  expect([existsSync(place.stateDir), existsSync(place.configPath)]).toEqual([true, true]);
});
