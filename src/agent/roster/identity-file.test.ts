import { expect, test } from "vitest";
import { FIRST_FILES } from "../workspace/first-files.ts";
import { identityFile } from "../templates/template.ts";
import { parseIdentity } from "./identity-file.ts";

test("the lines of an identity are read, with and without marks", () => {
  expect(parseIdentity("# Identity\n\n- **Name:** Ada Lovelace\n- **Vibe:** sharp: and dry\n- **Emoji:** 🧮\n* Avatar: pictures/me.png\n")).toEqual({
    name: "Ada Lovelace",
    theme: "sharp: and dry",
    emoji: "🧮",
    avatar: "pictures/me.png",
  });
  expect(parseIdentity("Name: Bo\r\n__Theme__: calm\r\n")).toEqual({ name: "Bo", theme: "calm" });
});

test("of a theme, a creature and a vibe the first counts that is filled in", () => {
  expect(parseIdentity("- **Vibe:** warm\n- **Creature:** robot\n")).toEqual({ theme: "robot" });
  expect(parseIdentity("- **Vibe:** warm\n- **Creature:** (robot, familiar)\n- **Theme:** dry\n")).toEqual({ theme: "dry" });
});

test("what nobody has filled in says nothing", () => {
  expect(parseIdentity(FIRST_FILES["IDENTITY.md"])).toEqual({});
  expect(parseIdentity("")).toEqual({});
});

test("what a template writes is read back", () => {
  expect(parseIdentity(identityFile({ id: "coder", name: "Coder", emoji: "🛠️", theme: "careful engineer" }))).toEqual({
    name: "Coder",
    emoji: "🛠️",
    theme: "careful engineer",
  });
});
