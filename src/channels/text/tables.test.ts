import { describe, expect, test } from "vitest";
import type { HostConfig } from "../../protocol/index.ts";
import { convertMarkdownTables, resolveChunkMode, resolveMarkdownTableMode, resolveTextChunkLimit } from "../index.ts";

const TABLE = "Hi\n\n| Name | Age |\n|:-----|----:|\n| Ann | 3 |\n| Bob |\n\nbye";

describe("tables", () => {
  test("become aligned text in a code block", () => {
    expect(convertMarkdownTables(TABLE, "code")).toBe("Hi\n\n```\n| Name | Age |\n| ---- | --- |\n| Ann  | 3   |\n| Bob  |     |\n```\n\nbye");
  });

  test("become lists with the first cell as their title", () => {
    expect(convertMarkdownTables(TABLE, "bullets")).toBe("Hi\n\n**Ann**\n• Age: 3\n\n**Bob**\n\nbye");
  });

  test("of one column are plain lists", () => {
    expect(convertMarkdownTables("| Fruit |\n|---|\n| apple |\n| pear |", "bullets")).toBe("• Fruit: apple\n• Fruit: pear");
  });

  test("stay unchanged where conversion is off", () => {
    expect(convertMarkdownTables(TABLE, "off")).toBe(TABLE);
    const code = `\`\`\`\n${TABLE}\n\`\`\``;
    expect(convertMarkdownTables(code, "code")).toBe(code);
    expect(convertMarkdownTables("a | b\nno rule here", "code")).toBe("a | b\nno rule here");
  });

  test("keep escaped bars and bars in code, and their code block stays closed", () => {
    const converted = convertMarkdownTables("| a | b |\n|---|---|\n| x \\| y | `p|q` |\n| a ``` | z |", "code");
    expect(converted).toContain("x | y");
    expect(converted).toContain("| p|q |");
    expect(converted.startsWith("````\n") && converted.endsWith("\n````")).toBe(true);
  });

  test("are aligned by display width: wide characters, emoji, accents, without markers that code would show", () => {
    const table = [
      "| name | what |",
      "|---|---|",
      "| 日本 | **bold** and *slanted* |",
      "| 🦞👨‍👩‍👧 | [site](https://x.test/a) |",
      "| e\u0301te\u0301 | `a_b` and snake_case_name 2*3*4 |",
      "| plain | ~~gone~~ \\*kept\\* |",
    ];
    expect(convertMarkdownTables(table.join("\n"), "code").split("\n")).toEqual([
      "```",
      "| name  | what                          |",
      "| ----- | ----------------------------- |",
      "| 日本  | bold and slanted              |",
      "| 🦞👨‍👩‍👧  | site (https://x.test/a)       |",
      "| e\u0301te\u0301   | a_b and snake_case_name 2*3*4 |",
      "| plain | gone *kept*                   |",
      "```",
    ]);
  });

  test("as lists have titles that are bold as a whole", () => {
    expect(convertMarkdownTables("| a | b |\n|---|---|\n| **x** and y | *1* |", "bullets")).toBe("**x and y**\n• b: *1*");
  });

  test("with a very long cell or very many columns are not padded", () => {
    for (const table of [
      `| ${"a".repeat(20_000)} |\n|---|\n${"| x |\n".repeat(5_000)}`,
      `${"|a".repeat(8_000)}|\n${"|-".repeat(8_000)}|\n${"| x |\n".repeat(5_000)}`,
    ]) {
      const converted = convertMarkdownTables(table, "code");
      expect(converted.length).toBeLessThan(table.length * 4);
      expect(converted.match(/x/g)).toHaveLength(5_000);
    }
  });

  test("end where a code block starts", () => {
    expect(convertMarkdownTables("| a |\n|---|\n| b |\n```sh\nx | y\n```", "bullets")).toBe("• a: b\n```sh\nx | y\n```");
  });
});

describe("settings", () => {
  const cfg: HostConfig = {
    channels: {
      irc: {
        textChunkLimit: 350,
        chunkMode: "newline",
        markdown: { tables: "bullets" },
        accounts: { Work: { textChunkLimit: 200, markdown: { tables: "off" } } },
      },
    },
  };

  test("the account's value wins over the channel's, and the channel's over the fallback", () => {
    expect(resolveTextChunkLimit(cfg, "irc", "work")).toBe(200);
    expect(resolveTextChunkLimit(cfg, "irc", "home")).toBe(350);
    expect(resolveTextChunkLimit(cfg, "signal", null, { fallbackLimit: 1500 })).toBe(1500);
    expect(resolveTextChunkLimit({}, "signal")).toBe(4000);
    expect(resolveMarkdownTableMode({ cfg, channel: "irc", accountId: "work" })).toBe("off");
    expect(resolveChunkMode(cfg, "irc", "work")).toBe("newline");
    expect(resolveChunkMode(undefined, "irc")).toBe("length");
  });

  test("tables become code, but lists on Signal and WhatsApp", () => {
    expect(["telegram", "signal", "whatsapp"].map((channel) => resolveMarkdownTableMode({ cfg: {}, channel }))).toEqual(["code", "bullets", "bullets"]);
  });
});
