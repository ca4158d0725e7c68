import { beforeAll, describe, expect, test } from "vitest";
import { loadRichText } from "../../../../channels/index.ts";
import { entriesOfHistory } from "../state/entry.ts";
import { chat, createPlayer, NOW, text } from "../state/tui.fixture.ts";
import { paint } from "../terminal/paint.ts";
import { lineWidth, plainText } from "../text/line.ts";
import { createMarkdown, piecesOf, type ReadMarkdown } from "./markdown.ts";
import { createView } from "./view.ts";

let read: ReadMarkdown;
beforeAll(async () => {
  read = (await loadRichText()).parseMarkdown;
});

const markdownLines = createMarkdown();
const shown = (markdown: string, columns = 60): string[] => markdownLines(markdown, columns, read).map((line) => plainText(line).trimEnd());

describe("Markdown", () => {
  test("headings and emphasis lose their signs and keep their weight", () => {
    expect(shown("# Title\n\nSome **bold** and `code`.")).toEqual(["Title", "", "Some bold and code."]);
    const painted = markdownLines("**bold**", 60, read).map((line) => paint(line, true));
    expect(painted).toEqual(["\u001b[1mbold\u001b[0m"]);
  });

  test("code stands in a frame, with its language and every space", () => {
    const lines = shown("Look:\n\n```js\nif (a)\n  b();\n```\nDone.");
    expect(lines[2]).toMatch(/^┌─ js ─+$/);
    expect(lines.slice(3, 5)).toEqual(["│ if (a)", "│   b();"]);
    expect(lines[5]).toMatch(/^└─+$/);
    expect(lines.at(-1)).toBe("Done.");
  });

  test("code that is not finished yet is code", () => expect(shown("```\nlet a").slice(1, 2)).toEqual(["│ let a"]));

  test("items hang under their sign", () => {
    expect(shown("- one two three four five\n- six", 16)).toEqual(["• one two three", "  four five", "• six"]);
  });

  test("tables stand in columns, whatever the width of their characters", () => {
    expect(shown("Look:\n\n| name | n |\n|---|--:|\n| 漢字 | 1 |\n| **bold** | 22 |\n| 🦞 a\\|b | `3` |\n\nDone.")).toEqual([
      "Look:",
      "",
      "name   │  n",
      "───────┼───",
      "漢字   │  1",
      "bold   │ 22",
      "🦞 a|b │  3",
      "",
      "Done.",
    ]);
    for (const line of markdownLines("|a|b|c|\n|-|:-:|-|\n|한글|- x|# y|\n|1. z|👩‍👩‍👧|[l](https://a.example)|", 60, read)) expect(lineWidth(line)).toBe(34);
  });

  test("a table that is too wide wraps in its cells; where columns do not fit it is a list", () => {
    const wide = "| name | what |\n|---|---|\n| one | some words that take long |\n| two | 漢字漢字漢字漢字漢字 |";
    const lines = markdownLines(wide, 20, read);
    expect(lines.map((line) => plainText(line).trimEnd())).toContain("     │ that take");
    for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(20);
    expect(shown("| a | b | c |\n|-|-|-|\n| one two | three | four five |\n| x | y | z |", 12)).toEqual([
      "a: one two",
      "b: three",
      "c: four five",
      "────────────",
      "a: x",
      "b: y",
      "c: z",
    ]);
  });

  test("pipes in code, in one line and without a rule are no table", () => {
    expect(shown("```\n| a | b |\n|---|---|\n```").slice(1, 3)).toEqual(["│ | a | b |", "│ |---|---|"]);
    expect(shown("a | b\nc | d")).toEqual(["a | b", "c | d"]);
  });

  test("a long answer is read in parts, which is not to be seen", () => {
    const part = "A paragraph.\n\n1. one\n2. two\n\n```\ncode\n\nmore code\n```\n\n> quoted\n\n";
    const whole = part.repeat(80);
    expect(piecesOf(whole).length).toBeGreaterThan(2);
    const lines = shown(whole);
    const once = shown(part).slice(0, shown(part).findLastIndex((line) => line !== "") + 1);
    expect(lines.slice(0, 80 * (once.length + 1) - 1)).toEqual(Array.from({ length: 80 }, (_, at) => (at === 79 ? once : [...once, ""])).flat());
  });

  test("quotations are marked, and links say where they lead", () => {
    expect(shown("> said")).toEqual(["▏ said"]);
    expect(shown("[our bank](https://evil.example/x)")).toEqual(["our bank <https://evil.example/x>"]);
  });
});

const HOSTILE = [
  "\u001b]0;owned\u0007",
  "\u001b[2J\u001b[H",
  "\u001b]52;c;AAAA\u0007",
  "\u009b2J",
  "\u001bP+q544e\u001b\\",
  "\u001b[?1049l",
  "\r\u001b[K",
  "\u202etxt\u202c",
  "\u0000\u0007\u0008\u007f",
  "`\u001b[31m`",
  "**\u001b]8;;https://evil.example\u001b\\x\u001b]8;;\u001b\\**",
  "```\n\u001b[2J\n```",
  "[\u001b[2J](https://a.example/\u001b[2J)",
  "| a\u001b[2J | b |\n|---|---|\n| \u009b1m | c |",
];

describe("nothing that models, tools, peers and the gateway say controls the terminal", () => {
  test.each(HOSTILE.map((bad) => [JSON.stringify(bad), bad]))("%s", (_name, bad) => {
    const player = createPlayer({ read });
    const call = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: bad },
        { type: "toolCall", id: "c", name: `n${bad}`, arguments: { command: bad, [bad]: bad } },
      ],
      timestamp: NOW,
    };
    const result = { role: "toolResult", toolCallId: "c", content: text(bad), timestamp: NOW };
    const entries = entriesOfHistory([
      { role: "user", content: text(bad), timestamp: NOW },
      call,
      result,
      { role: "assistant", content: text(bad), errorMessage: bad, timestamp: NOW },
      { role: "system", content: text(bad) },
    ]);
    player.state = {
      ...player.state,
      url: bad,
      agents: [{ id: "main", name: bad }],
      facts: { model: bad, provider: bad, thinking: bad, verbose: bad, reasoning: bad },
      show: { tools: true, thinking: true },
      commands: [{ name: `help${bad}`, description: bad, choices: [] }],
    };
    player.play({ type: "history", sessionKey: player.state.sessionKey, read: player.state.reads, entries, runs: [] });
    player.play(chat("r", "delta", bad), chat("e", "error", undefined, { errorMessage: bad }), { type: "failed", error: bad });
    player.play({ type: "asked", approval: { id: "a", command: bad, cwd: bad, host: bad, resolvedPath: bad, sessionKey: bad, expiresAt: NOW + 1000 } });
    const view = createView();
    const screens = ["", "picker", "lost"].map((mode) => {
      if (mode === "picker") {
        player.keys("ctrl+p");
        player.play({ type: "items", kind: "sessions", items: [{ value: bad, label: bad, detail: bad }] });
      }
      if (mode === "lost") player.play({ type: "lost", why: bad, retryAt: NOW });
      return view(player.state, { size: { columns: 80, rows: 80 }, now: NOW, read }).frame.lines;
    });
    for (const line of screens.flat()) {
      const painted = paint(line, true);
      // oxlint-disable-next-line no-control-regex
      expect(painted.replace(/\u001b\[[0-9;]*m/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ufffd]/);
    }
  });
});

describe("the screen", () => {
  test("has as many lines as the terminal and none is wider, whatever its size", () => {
    const player = createPlayer({ read });
    const words = "漢字 🦞 a long line with `code` and **bold** words that wraps\n\n- item\n\n```\ncode code code code code code\n```";
    player.play({
      type: "history",
      sessionKey: player.state.sessionKey,
      read: player.state.reads,
      entries: entriesOfHistory([{ role: "assistant", content: text(words), timestamp: NOW }]),
      runs: [],
    });
    player.play({ type: "asked", approval: { id: "a", command: "echo ".repeat(40), expiresAt: NOW + 1000 } });
    player.type("some 漢字 input that is long enough to wrap on narrow screens");
    const view = createView();
    for (const columns of [1, 10, 20, 21, 33, 80, 200]) {
      for (const rows of [1, 5, 6, 7, 12, 50]) {
        const { frame } = view(player.state, { size: { columns, rows }, now: NOW, read });
        expect(frame.lines.length).toBe(rows);
        if (columns >= 20) for (const line of frame.lines) expect(lineWidth(line)).toBeLessThanOrEqual(columns);
        if (frame.cursor) {
          expect(frame.cursor.row).toBeLessThan(rows);
          expect(frame.cursor.column).toBeLessThan(columns);
        }
      }
    }
  });

  test("header and footer say where one is", () => {
    const player = createPlayer();
    player.play({
      type: "facts",
      sessionKey: player.state.sessionKey,
      ts: NOW,
      facts: { model: "large", provider: "acme", verbose: "full", totalTokens: 5400, contextTokens: 200_000 },
    });
    const screen = player.screen({ columns: 160, rows: 24 });
    expect(screen[0]).toContain("ws://127.0.0.1:1 · agent main · session main");
    expect(screen.at(-1)).toBe(
      "connected · agent main · session main · acme/large · think default · verbose full · reasoning off · tokens 5.4k/200k (3%) · deliver off",
    );
    expect(player.screen({ columns: 64, rows: 24 }).at(-1)).toBe("connected · acme/large · verbose full · tokens 5.4k/200k (3%)");
  });
});
