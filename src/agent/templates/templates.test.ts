import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { BOOTSTRAP_NAMES } from "../workspace/bootstrap-names.ts";
import { TEMPLATES, templateNamed, type TemplateFacts } from "./index.ts";

const FACTS: TemplateFacts = { id: "house", name: "House (1.0)", emoji: "🏡", theme: "calm" };
const optional = new Set<string>(["BOOTSTRAP.md"]);

/** What the configuration says about an agent with these settings. */
function check(settings: object) {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-templates-"));
  try {
    const path = join(folder, "openclaw.json");
    writeFileSync(path, JSON.stringify({ agents: { list: [{ id: "main" }, { id: "house", ...settings }] } }));
    const { snapshot } = loadConfig({ path, env: {}, osHome: folder, cwd: folder });
    return { issues: snapshot.issues, warnings: snapshot.warnings };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("there is one for a person, for code, for a group and for reading", () => {
  expect(TEMPLATES.map(({ id }) => id)).toEqual(["personal", "coder", "family", "readonly"]);
});

test.each(TEMPLATES.map((template) => [template.id, template] as const))(
  "%s: its settings are valid, and nothing in them is unknown or not built",
  (_, template) => {
    expect(check(template.settings(FACTS))).toEqual({ issues: [], warnings: [] });
  },
);

test.each(TEMPLATES.map((template) => [template.id, template] as const))("%s: it has every file, short and without front matter", (_, template) => {
  const files = template.files(FACTS);
  expect(BOOTSTRAP_NAMES.filter((name) => !optional.has(name)).filter((name) => files[name] === undefined)).toEqual([]);
  for (const [name, text] of Object.entries(files)) {
    expect(text.length, name).toBeLessThan(3500);
    expect(text, name).toMatch(/^# .*\n[^]*[^\n]\n$/);
  }
  expect(files["HEARTBEAT.md"].split("\n").every((line) => line === "" || line.startsWith("#"))).toBe(true);
});

test("no template touches heartbeats: one agent with settings for them would end those of all others", () => {
  for (const template of TEMPLATES) expect(Object.keys(template.settings(FACTS)), template.id).not.toContain("heartbeat");
});

test("an agent that cannot write has no first conversation to take notes of", () => {
  for (const id of ["family", "readonly"]) expect(Object.keys(templateNamed(id).files(FACTS))).not.toContain("BOOTSTRAP.md");
});

test("the agent of a group answers to its id and its name, also to a name with special characters", () => {
  const { mentionPatterns } = templateNamed("family").settings(FACTS)["groupChat"] as { readonly mentionPatterns: readonly string[] };
  const isMentioned = (text: string): boolean => mentionPatterns.some((pattern) => new RegExp(pattern, "iu").test(text));
  expect(["house, what is for dinner?", "@house hello", "thanks House (1.0)!"].map(isMentioned)).toEqual([true, true, true]);
  expect(["the household is asleep", "House 1x0"].map(isMentioned)).toEqual([false, true]);
});

test("an unknown template is refused with the nearest one", () => {
  expect(() => templateNamed("codr")).toThrow("did you mean coder?");
  expect(() => templateNamed("butler")).toThrow("available: personal, coder, family, readonly");
  expect(templateNamed(" Coder ").id).toBe("coder");
});
