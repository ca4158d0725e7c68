/** Programs that skills lack: what is offered, what runs, and what becomes of a failure. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configure } from "../../src/setup/configure.ts";
import { onboard } from "../../src/setup/onboard.ts";
import { LEAVE, GOES_ON, person, openSetup, type SetupFixture } from "./fixture.ts";

const CHOOSES = { ...GOES_ON, "Which model do you want to use?": "skip" };
const GIVEN = { skip: { health: true, channels: true } };
const QUESTION = "Install programs that skills need? (optional)";
const COMMAND = "npm install --global --ignore-scripts @acme/weather-tool-of-nobody";

/** A skill that needs a program which no machine has. */
function addSkill({ home }: SetupFixture, name: string, install: string): void {
  const folder = join(home, "files/skills", name);
  mkdirSync(folder, { recursive: true });
  const metadata = `{openclaw: {requires: {bins: ["${name}-of-nobody"]}, install: [${install}]}}`;
  writeFileSync(join(folder, "SKILL.md"), `---\nname: ${name}\ndescription: Something.\nmetadata: ${metadata}\n---\nText.\n`);
}

const NODE = `{kind: "node", package: "@acme/weather-tool-of-nobody"}`;

/** A machine whose installers are these scripts. */
async function machine(programs: Readonly<Record<string, string>>, skills: Readonly<Record<string, string>> = { weather: NODE }): Promise<SetupFixture> {
  const made = await openSetup(undefined, {}, programs);
  for (const [name, install] of Object.entries(skills)) addSkill(made, name, install);
  return made;
}

const run = ({ place, home }: SetupFixture, ask: ReturnType<typeof person>["ask"], given: object = {}) =>
  onboard(place, { ask, answers: { ...GIVEN, workspace: join(home, "files"), ...given }, command: "test" });
const installs = ({ calls }: SetupFixture): readonly string[] => calls().filter((call) => !/^(?:systemctl|loginctl) /.test(call));

describe("programs of skills", () => {
  test("are shown with what would run, and installed at the end when that is agreed to", async () => {
    const here = await machine({ npm: 'test -f "$HOME/openclaw.json" || exit 3' });
    const { ask, notes, offered } = person({ ...CHOOSES, [QUESTION]: ["weather"], "Run these commands at the end": true });
    const result = await run(here, ask);
    expect(offered[QUESTION]).toEqual(["weather"]);
    expect(notes.find((note) => note.includes(COMMAND))).toContain(join(here.home, "files/skills/weather/SKILL.md"));
    expect(installs(here)).toEqual([COMMAND]);
    expect(result).toMatchObject({ programs: [{ skill: "weather", command: COMMAND, ok: true }] });
  });

  test("are not installed without a yes, nor when none is chosen, nor for a user who leaves", async () => {
    for (const answers of [
      { [QUESTION]: ["weather"], "Run these commands at the end": false },
      { [QUESTION]: [] },
      { [QUESTION]: ["weather"], "Run these commands at the end": true, "as a service?": LEAVE },
    ]) {
      const here = await machine({ npm: "exit 0" });
      await run(here, person({ ...CHOOSES, ...answers }).ask).catch((error: unknown) => expect(error).toMatchObject({ code: "CANCELLED" }));
      expect(installs(here)).toEqual([]);
    }
  });

  test("that fail are reported with the installer's output; the next one runs, and the setup stands", async () => {
    const here = await machine({ npm: "echo EACCES: not yours >&2; exit 243", uv: "exit 0" }, { weather: NODE, notes: `{kind: "uv", package: "notes"}` });
    const { ask, notes } = person({ ...CHOOSES, [QUESTION]: ["notes", "weather"], "Run these commands at the end": true });
    const result = await run(here, ask);
    expect(result).toMatchObject({ ok: true, programs: expect.arrayContaining([expect.objectContaining({ skill: "notes", ok: true })]) });
    expect(notes.join("\n")).toMatch(/weather still needs its program[\s\S]*exit code 243: EACCES: not yours/);
    expect(here.config()).toMatchObject({ gateway: { mode: "local" } });
  });

  test("get none of our keys in their environment", async () => {
    const here = await openSetup(undefined, { OPENAI_API_KEY: "sk-CANARY-0123456789abcdefghijkl" }, { npm: 'export -p > "$HOME/seen"' });
    addSkill(here, "weather", NODE);
    const { ask } = person({ ...CHOOSES, [QUESTION]: ["weather"], "Run these commands at the end": true });
    expect(await run(here, ask)).toMatchObject({ programs: [{ ok: true }] });
    expect(readFileSync(join(here.home, "seen"), "utf8")).not.toContain("CANARY");
  });

  test("of a manager that is chosen", async () => {
    const here = await machine({ bun: "exit 0", npm: "exit 0" });
    const { ask } = person({ ...CHOOSES, [QUESTION]: ["weather"], "Run these commands at the end": true });
    await run(here, ask, { nodeManager: "bun" });
    expect(installs(here)).toEqual([COMMAND.replace("npm install", "bun add")]);
  });

  test("that only a person can get are named with the reason", async () => {
    const here = await machine({}, { weather: `{kind: "brew", formula: "weather"}` });
    const { ask, notes, asked } = person(CHOOSES);
    await run(here, ask);
    expect(notes.join("\n")).toMatch(/weather needs weather-of-nobody: Homebrew/);
    expect(asked).not.toContain(QUESTION);
  });

  test("that are downloads are fetched at the end; a host that cannot be reached is reported", async () => {
    const here = await machine({}, { maps: `{kind: "download", url: "https://127.0.0.1:9/maps.zip"}` });
    const { ask, notes } = person({ ...CHOOSES, [QUESTION]: ["maps"], "Run these commands at the end": true });
    const result = await run(here, ask);
    expect(notes.join("\n")).toContain("download https://127.0.0.1:9/maps.zip and unpack it");
    expect(result).toMatchObject({ programs: [{ skill: "maps", ok: false, text: expect.stringContaining("127.0.0.1") }] });
  });

  test("whose installer is missing get it first", async () => {
    const here = await machine({ brew: "echo /opt/brew", go: "exit 9" }, { clock: `{kind: "uv", package: "clock"}` });
    const { ask } = person({ ...CHOOSES, [QUESTION]: ["clock"], "Run these commands at the end": true });
    const result = await run(here, ask);
    const isRoot = process.getuid?.() === 0;
    // Homebrew refuses root, so that uv cannot be had then.
    expect(result).toMatchObject({ programs: isRoot ? [] : [{ skill: "clock", command: "brew install uv && uv tool install clock", ok: false }] });
  });

  test("are not spoken of with --skip-skills, and nobody is there to agree to anything without a terminal", async () => {
    const here = await machine({ npm: "exit 0" });
    const { ask, asked } = person(CHOOSES);
    await run(here, ask, { skip: { ...GIVEN.skip, skills: true } });
    expect(asked).not.toContain(QUESTION);
    const other = await machine({ npm: "exit 0" });
    await onboard(other.place, { answers: { ...GIVEN, acceptRisk: true, workspace: join(other.home, "files"), nodeManager: "npm" }, command: "test" });
    expect([installs(here), installs(other)]).toEqual([[], []]);
  });

  test("in configure too", async () => {
    const here = await machine({ pnpm: "exit 0" });
    const { ask } = person({
      "Agent workspace": join(here.home, "files"),
      "Package manager": "pnpm",
      [QUESTION]: ["weather"],
      "Run these commands at the end": true,
    });
    await configure(here.place, ask, ["workspace", "skills"]);
    expect(installs(here)).toEqual([COMMAND.replace("npm install", "pnpm add")]);
  });
});
