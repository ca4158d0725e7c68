import { describe, expect, test } from "vitest";
import { answer, chat, createPlayer, hello, history, KEY, kinds, log, NOW, say, text, user } from "./tui.fixture.ts";

describe("commands", () => {
  test("our own are answered here, others go to the gateway", () => {
    const player = createPlayer();
    say(player, "hello");
    player.effects();
    for (const line of ["/help", "/think high", "/new", "/abort", "/status", "/unknown thing"]) {
      player.type(line);
      player.keys("enter");
    }
    expect(player.effects()).toMatchObject([
      { kind: "patch", field: "thinkingLevel", value: "high" },
      { kind: "reset", reason: "new" },
      { kind: "abort" },
      { kind: "send", sent: { text: "/status" } },
      { kind: "send", sent: { text: "/unknown thing" } },
    ]);
    expect(log(player)).toContain("Ctrl+L models");
  });

  test("are completed, and so is what they take", () => {
    const player = createPlayer();
    player.type("/thi");
    expect(player.screen().join("\n")).toContain("/think");
    player.keys("tab");
    expect(player.state.editor.text).toBe("/think ");
    player.type("h");
    player.keys("tab");
    expect(player.state.editor.text).toBe("/think high");
  });

  test("those that the gateway lists are offered", () => {
    const player = createPlayer();
    player.play({ type: "commands", commands: [{ name: "weather", description: "of today", choices: [] }] });
    player.type("/wea");
    expect(player.screen().join("\n")).toMatch(/\/weather +of today/);
  });

  test("a misspelt one is caught with a suggestion and stays in the input; entered once more it is sent", () => {
    const player = createPlayer();
    player.play({ type: "connected", hello: hello(["commands.list"]), url: "ws://127.0.0.1:1" });
    player.play({ type: "commands", commands: [{ name: "compact", aliases: ["sum"], description: "", choices: [] }] });
    player.effects();
    player.type("/modle large");
    player.keys("enter");
    expect(log(player)).toContain("Unknown command /modle. Did you mean /model?");
    expect([kinds(player), player.state.editor.text]).toEqual([[], "/modle large"]);
    player.keys("enter");
    expect(kinds(player)).toEqual(["send"]);
    for (const known of ["/sum", "/etc/hosts is what?", "/zzzzzzzz"]) {
      player.type(known);
      player.keys("enter");
    }
    expect(log(player).match(/Unknown command/g)).toHaveLength(1);
  });

  test("a name out of any object's own is no command of ours", () => {
    const player = createPlayer();
    player.type("/constructor x");
    player.keys("enter");
    expect(kinds(player)).toEqual(["send"]);
  });
});

describe("lists", () => {
  test("of models are filtered and chosen from", () => {
    const player = createPlayer();
    player.keys("ctrl+l");
    expect(player.effects()).toEqual([{ kind: "pick", what: "models" }]);
    player.play({
      type: "items",
      kind: "models",
      items: ["acme/large", "acme/small", "other/small"].map((value) => ({ value, label: value, detail: "" })),
    });
    player.type("small");
    player.keys("down", "enter");
    expect(player.effects()).toEqual([{ kind: "patch", sessionKey: KEY, field: "model", value: "other/small" }]);
  });

  test("move with arrows, Ctrl+N and Ctrl+P, j and k, and close with Escape", () => {
    const player = createPlayer();
    player.keys("ctrl+p");
    player.play({ type: "items", kind: "sessions", items: ["a", "b", "c"].map((value) => ({ value, label: value, detail: "" })) });
    player.keys("down", "ctrl+n", "ctrl+p");
    player.type("j");
    player.type("k");
    expect(player.state.picker?.selected).toBe(1);
    player.keys("escape");
    expect(player.state.picker).toBeUndefined();
  });

  test("another session is entered empty and read", () => {
    const player = createPlayer();
    player.play(history(player, [user("of main")], 1));
    player.type("/session work");
    player.keys("enter");
    expect(player.effects()).toContainEqual(expect.objectContaining({ kind: "history", sessionKey: "agent:main:work" }));
    expect(log(player)).not.toContain("of main");
    expect(player.screen()[0]).toContain("session work");
  });
});

describe("commands for this machine", () => {
  test("run after they were allowed once", () => {
    const player = createPlayer();
    player.type("!ls -la");
    player.keys("enter");
    expect(player.effects()).toEqual([]);
    player.keys("enter");
    expect(player.effects()).toEqual([]);
    player.type("!ls -la");
    player.keys("enter", "down", "enter");
    expect(player.effects()).toEqual([{ kind: "shell", command: "ls -la" }]);
    player.play({ type: "shell-ended", command: "ls -la", output: "a\nb\n", failure: "exit code 2" });
    expect(log(player).trim()).toBe("! ls -la\n  a\n  b\n  exit code 2");
    player.type("!pwd");
    player.keys("enter");
    expect(player.effects()).toEqual([{ kind: "shell", command: "pwd" }]);
  });

  test("a lone ! and a leading space are a message", () => {
    const player = createPlayer();
    for (const words of ["!", " !ls"]) {
      player.type(words);
      player.keys("enter");
    }
    expect(kinds(player)).toEqual(["send", "send"]);
  });
});

describe("the keyboard", () => {
  test("Ctrl+C clears, twice leaves; Ctrl+D leaves", () => {
    const player = createPlayer();
    player.type("draft");
    player.keys("ctrl+c");
    expect(player.state.editor.text).toBe("");
    player.keys("ctrl+c");
    expect(player.screen().at(-3)).toBe("Press Ctrl+C again to exit");
    player.now += 3000;
    player.keys("ctrl+c");
    expect(kinds(player)).toEqual([]);
    player.keys("ctrl+c");
    expect(kinds(player)).toEqual(["exit"]);
    const other = createPlayer();
    other.keys("ctrl+d");
    expect(kinds(other)).toEqual(["exit"]);
  });

  test("Up and Down recall what was said and give the draft back", () => {
    const player = createPlayer();
    say(player, "one");
    say(player, "two");
    player.type("draft");
    player.keys("up");
    expect(player.state.editor.text).toBe("two");
    player.keys("up", "up");
    expect(player.state.editor.text).toBe("one");
    player.keys("down", "down");
    expect(player.state.editor.text).toBe("draft");
  });

  test("a paste of several lines is not sent by its line ends, and cannot control the terminal", () => {
    const player = createPlayer();
    player.play({ type: "paste", text: "one\r\ntwo\u001b[2J" });
    expect(player.effects()).toEqual([]);
    expect(player.state.editor.text).toBe("one\ntwo");
  });

  test("lines are begun, moved between and joined", () => {
    const player = createPlayer();
    player.type("ab");
    player.keys("alt+enter");
    player.type("漢👩‍👩‍👧x");
    player.keys("left", "backspace", "up", "end");
    player.type("!");
    expect(player.state.editor.text).toBe("ab!\n漢x");
    player.keys("delete", "ctrl+w");
    expect(player.state.editor.text).toBe("漢x");
  });

  test("Page Up scrolls back and stays there while more comes", () => {
    const player = createPlayer();
    player.play(
      history(
        player,
        Array.from({ length: 50 }, (_, n) => answer(`line ${n}`, NOW + n)),
        1,
      ),
    );
    player.screen();
    player.keys("pageup");
    const before = player.screen().slice(1, 5);
    player.play(chat("r", "delta", "more\nand more"));
    expect(player.screen().slice(1, 5)).toEqual(before);
    expect(player.screen().at(-3)).toContain("lines below");
    player.keys("ctrl+end");
    expect(player.screen().join("\n")).toContain("and more");
  });

  test("Ctrl+O unfolds tools, Ctrl+T shows reasoning and reads again", () => {
    const player = createPlayer();
    const thinking = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hmm" },
        { type: "toolCall", id: "c", name: "read", arguments: { path: "x" } },
      ],
      timestamp: NOW,
    };
    const result = { role: "toolResult", toolCallId: "c", content: text("1\n2\n3\n4\n5"), timestamp: NOW + 1 };
    player.play(history(player, [thinking, result], 1));
    expect(log(player)).toContain("… 2 more lines (Ctrl+O)");
    expect(log(player)).not.toContain("hmm");
    player.keys("ctrl+o", "ctrl+t");
    expect(kinds(player)).toEqual(["history"]);
    expect(log(player)).toContain("│ 5");
    expect(log(player)).toContain("∴ hmm");
  });
});

describe("a list that the gateway has more of", () => {
  const found = (from: number, count: number, search: string, total: number) => ({
    type: "items" as const,
    kind: "sessions" as const,
    items: Array.from({ length: count }, (_, at) => ({ value: `s${from + at}`, label: `s${from + at}`, detail: "" })),
    total,
    search,
  });
  const opened = () => {
    const player = createPlayer();
    player.keys("ctrl+p");
    player.play(found(0, 200, "", 345));
    player.effects();
    return player;
  };

  test("says how many there are, and brings more at its end, once", () => {
    const player = opened();
    expect(player.screen().join("\n")).toContain("200 of 345");
    player.keys("end");
    expect(player.effects()).toEqual([{ kind: "pick", what: "sessions", search: "", limit: 400 }]);
    player.keys("down", "up", "end");
    expect(player.effects()).toEqual([]);
    player.play(found(0, 345, "", 345));
    expect(player.state.picker).toMatchObject({ selected: 199, asking: false });
    player.keys("end", "down");
    expect(player.effects()).toEqual([]);
    expect(player.screen().join("\n")).toContain("345 of 345");
  });

  test("is looked through by the gateway, with one question at a time and the newest words in the end", () => {
    const player = opened();
    player.type("n");
    player.type("ee");
    expect(player.effects()).toEqual([{ kind: "pick", what: "sessions", search: "n", limit: 200 }]);
    expect(player.screen().join("\n")).toContain("looking …");
    player.play(found(500, 20, "n", 20));
    expect(player.effects()).toEqual([{ kind: "pick", what: "sessions", search: "nee", limit: 200 }]);
    player.play(found(900, 2, "nee", 2));
    expect(player.effects()).toEqual([]);
    // What it found need not have the words in what is shown.
    expect(player.screen().join("\n")).toMatch(/2 of 2[\s\S]*s900[\s\S]*s901/);
    player.keys("down", "enter");
    expect(player.state.sessionKey).toBe("s901");
  });

  test("can be asked again after a question that failed", () => {
    const player = opened();
    player.type("n");
    player.play({ type: "failed", error: "gone" });
    player.effects();
    player.type("e");
    expect(player.effects()).toEqual([{ kind: "pick", what: "sessions", search: "ne", limit: 200 }]);
  });
});
