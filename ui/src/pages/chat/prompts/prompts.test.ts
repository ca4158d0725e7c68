import { describe, expect, it } from "vitest";
import { nextPlaceholder, placeholdersIn } from "./placeholders.ts";
import { manageChoice, promptChoices } from "./prompts.ts";

const prompt = (name: string, text = "x") => ({ id: name, name, text, updatedAtMs: 1 });

describe("placeholders of a prompt", () => {
  it("are names in braces, not code", () => {
    expect(placeholdersIn("Report on {project} for {the whole team}.").map(({ name }) => name)).toEqual(["project", "the whole team"]);
    expect(placeholdersIn('{} { a } {"json": 1} {{jinja}} ${shell} {\n}').map(({ name }) => name)).toEqual([]);
  });

  it("come one after the other, in a circle", () => {
    const text = "{a} and {b}";
    expect(nextPlaceholder(text, 1)).toMatchObject({ name: "b" });
    expect(nextPlaceholder(text, 11)).toMatchObject({ name: "a" });
    expect(nextPlaceholder("none", 0)).toBeUndefined();
  });
});

describe("prompts behind /", () => {
  const all = [prompt("Ask why"), prompt("Weekly report", "Report on {project}"), prompt("Report bugs")];

  it("are found by their names, also by several words", () => {
    expect(promptChoices("/", all).map(({ label }) => label)).toEqual(["Ask why", "Weekly report", "Report bugs"]);
    expect(promptChoices("/rep", all).map(({ label }) => label)).toEqual(["Weekly report", "Report bugs"]);
    expect(promptChoices("/weekly re", all)).toMatchObject([{ text: "Report on {project}", select: [10, 19] }]);
    expect(promptChoices("see /rep", all)).toEqual([]);
  });

  it("are managed from the end of the list", () => {
    expect(manageChoice("/", () => undefined)).toHaveLength(1);
    expect(manageChoice("/pro", () => undefined)).toHaveLength(1);
    expect(manageChoice("/model", () => undefined)).toEqual([]);
  });
});
