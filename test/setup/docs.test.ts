/** The page about the first setup, tried: its commands in a real program, its tables against the code. */
import { describe, expect, test, vi } from "vitest";
import { AUTH_CHOICES } from "../../src/setup/auth-choices.ts";
import { SECTIONS } from "../../src/setup/configure.ts";
import { ONBOARD_OPTIONS } from "../../src/cli/commands/onboard/flags.ts";
import { readPage, ticked } from "../harness/docs-page.ts";
import { setupHome } from "./place.ts";

vi.setConfig({ testTimeout: 60_000 });

const page = readPage("docs/onboarding.md");

describe("the page about the first setup", () => {
  test.each(page.examples.map(({ line, output }) => [line, output] as const))("%s", async (line, output) => {
    const home = setupHome();
    const { code, stdout, stderr } = await home.run(line.split(" ").slice(1), { OPENCLAW_STATE_DIR: "~/.openclaw" });
    expect([code, stderr]).toEqual([0, ""]);
    if (output !== undefined) expect(stdout.replaceAll(home.home, "<home>")).toBe(output);
  });

  test("names every choice of a model, with the flag of its key", () => {
    const rows = page.rowsOf("| `--auth-choice` | what it takes |");
    const named = rows.flatMap(([choices, takes]) => ticked(choices!).map((id) => [id, ticked(takes!)[0]] as const));
    expect(named.map(([id]) => id).toSorted()).toEqual(AUTH_CHOICES.map(({ id }) => id).toSorted());
    for (const choice of AUTH_CHOICES) {
      if (choice.kind === "key") expect(named).toContainEqual([choice.id, `--${choice.flag}-api-key`]);
    }
  });

  test("names every section of configure, and every flag of onboard", () => {
    const [, configure] = page.rowsOf("| command | what it is for |");
    expect(ticked(configure![1]!).map((text) => text.replace("--section ", ""))).toEqual(expect.arrayContaining([...SECTIONS]));
    const flags = Object.keys(ONBOARD_OPTIONS).filter((name) => name !== "json");
    expect(flags.filter((name) => !page.text.includes(`--${name}`))).toEqual([]);
  });
});
