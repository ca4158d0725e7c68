import { describe, expect, it } from "vitest";
import { mentionAt, mentionChoices } from "./composer-mentions.ts";

const at = (text: string): string | undefined => {
  const caret = text.indexOf("|");
  return mentionAt(text.replace("|", ""), caret)?.query;
};

describe("a mention", () => {
  it("begins with @ at the beginning of a word", () => {
    expect(at("@|")).toBe("");
    expect(at("see @notes/to|")).toBe("notes/to");
    expect(at("(@re|")).toBe("re");
    expect(at("first line\n@x|")).toBe("x");
  });

  it("is neither an address, nor something behind which a word went on", () => {
    expect(at("write to ada@example|")).toBeUndefined();
    expect(at("a.b+c@|")).toBeUndefined();
    expect(at("@notes done|")).toBeUndefined();
    expect(at("npm i foo@1.2|")).toBeUndefined();
    expect(at("@@x|")).toBeUndefined();
  });
});

describe("what is offered for a mention", () => {
  const agents = [
    { id: "main", name: "Claw" },
    { id: "work", identity: { name: "Ada at work" } },
  ];
  const choose = (text: string, files: readonly string[] = []) => {
    const caret = text.indexOf("|");
    const plain = text.replace("|", "");
    return mentionChoices(
      plain,
      mentionAt(plain, caret)!,
      agents,
      files.map((path) => ({ path, kind: path.endsWith("/") ? ("folder" as const) : ("file" as const) })),
    );
  };

  it("is agents by their names and files by their paths", () => {
    expect(choose("@|").map(({ label }) => label)).toEqual(["Claw", "Ada at work"]);
    expect(choose("@wo|").map(({ text }) => text)).toEqual(["Ada at work "]);
    expect(choose("see @zz| now", ["notes/zz.md"])).toMatchObject([{ label: "zz.md", detail: "notes", text: "see @notes/zz.md now", select: [17, 17] }]);
  });

  it("puts a path with spaces into quotes", () => {
    expect(choose("@my|", ["my notes.md"]).map(({ text }) => text)).toEqual(['"@my notes.md" ']);
  });
});
