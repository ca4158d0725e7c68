import { describe, expect, test } from "vitest";
import { agent, answer, chat, createPlayer, hello, history, KEY, kinds, log, NOW, type Player, say, text, user } from "./tui.fixture.ts";

const times = (player: Player, words: string): number => log(player).split(words).length - 1;

describe("a message", () => {
  test("is sent with a key of its own and shown at once", () => {
    const player = createPlayer();
    say(player, "hello");
    expect(player.effects()).toMatchObject([{ kind: "send", sent: { runId: "run-1", sessionKey: KEY, text: "hello" } }]);
    expect(log(player)).toContain("› hello\n  sending …");
    player.play({ type: "accepted", runId: "run-1", ended: false });
    expect(log(player)).not.toContain("sending");
  });

  test("and its answer are shown once, before and after the history has them", () => {
    const player = createPlayer();
    const runId = say(player, "hello");
    player.play({ type: "accepted", runId, ended: false }, chat(runId, "delta", "Hi th"), chat(runId, "final", "Hi there."));
    expect([times(player, "hello"), times(player, "Hi there.")]).toEqual([1, 1]);
    player.play(history(player, [user("hello"), answer("Hi there.")]));
    expect([times(player, "hello"), times(player, "Hi there.")]).toEqual([1, 1]);
    expect(player.state).toMatchObject({ sent: [], runs: [] });
  });

  test("that was said before is another one", () => {
    const player = createPlayer();
    player.play(history(player, [user("again", NOW - 50), answer("first", NOW - 40)], 1));
    say(player, "again");
    player.play({ type: "gap" });
    player.play(history(player, [user("again", NOW - 50), answer("first", NOW - 40)]));
    expect(times(player, "› again")).toBe(2);
    player.play({ type: "gap" });
    player.play(history(player, [user("again", NOW - 50), answer("first", NOW - 40), user("again", NOW + 5)]));
    expect(times(player, "› again")).toBe(2);
    expect(player.state.sent).toEqual([]);
  });

  test("said twice in a row is two, whichever the history has first", () => {
    const player = createPlayer();
    say(player, "again");
    say(player, "again");
    player.play({ type: "gap" });
    player.play(history(player, [user("again", NOW + 1)]));
    expect([times(player, "› again"), player.state.sent.length]).toEqual([2, 1]);
    player.play({ type: "gap" });
    player.play(history(player, [user("again", NOW + 1)]));
    expect([times(player, "› again"), player.state.sent.length]).toEqual([2, 1]);
    player.play({ type: "gap" });
    player.play(history(player, [user("again", NOW + 1), answer("yes", NOW + 2), user("again", NOW + 3)]));
    expect([times(player, "› again"), player.state.sent.length]).toEqual([2, 0]);
  });

  test("is known by its run where the gateway tells it", () => {
    const player = createPlayer();
    const runId = say(player, "hello");
    player.play({ type: "gap" });
    const entry = { kind: "user", at: NOW, text: "hello", runId: "of another client" } as const;
    const come = (entries: readonly (typeof entry | { kind: "user"; at: number; text: string; runId: string })[]): void =>
      player.play({ type: "history", sessionKey: KEY, read: player.state.reads, entries, runs: [] });
    come([entry]);
    expect(player.state.sent).toHaveLength(1);
    player.play({ type: "gap" });
    come([entry, { ...entry, text: "hello, cleaned", runId }]);
    expect(player.state.sent).toEqual([]);
  });

  test("that is under way when the connection is lost is sent again under the same key", () => {
    const player = createPlayer();
    const runId = say(player, "hello");
    player.effects();
    player.play({ type: "lost", why: "gone", retryAt: NOW + 1000 });
    expect(player.screen().at(-3)).toContain("Disconnected, reconnecting in 1 s: gone");
    player.play({ type: "connected", hello: hello(), url: "ws://127.0.0.1:2" });
    expect(player.effects()).toContainEqual(expect.objectContaining({ kind: "send", sent: expect.objectContaining({ runId }) }));
    player.play({ type: "accepted", runId, ended: true });
    player.play(history(player, [user("hello"), answer("Hi.")]));
    expect([times(player, "hello"), times(player, "Hi.")]).toEqual([1, 1]);
    expect(player.state.sent).toEqual([]);
  });

  test("that waits behind a run stays until the history has it", () => {
    const player = createPlayer();
    const runId = say(player, "later");
    player.play({ type: "accepted", runId, ended: false }, chat(runId, "final"));
    player.play(history(player, []));
    expect(times(player, "later")).toBe(1);
    player.play({ type: "gap" });
    player.play(history(player, [user("[queued]\nlater\nand more")]));
    expect(times(player, "later")).toBe(1);
  });

  test("that was refused says why and can be had back", () => {
    const player = createPlayer();
    player.play({ type: "refused", runId: say(player, "hello"), error: "send blocked by session policy" });
    expect(log(player)).toContain("Not sent: send blocked by session policy");
    player.keys("up");
    expect(player.state.editor.text).toBe("hello");
  });

  test("that was given on the command line goes to the session as the gateway names it", () => {
    const player = createPlayer({ connected: false });
    say(player, "first");
    player.effects();
    player.play({ type: "connected", hello: hello(), url: "ws://127.0.0.1:1" });
    expect(player.effects()[0]).toMatchObject({ kind: "send", sent: { text: "first", sessionKey: KEY } });
  });
});

describe("a run", () => {
  test("shows text, tools and text in their order", () => {
    const player = createPlayer();
    player.play(
      agent("r", "lifecycle", { phase: "start", startedAt: NOW }),
      agent("r", "assistant", { text: "Let me look.", delta: "" }),
      agent("r", "tool", { phase: "start", name: "exec", toolCallId: "c1", args: { command: "ls" } }),
      agent("r", "tool", { phase: "update", name: "exec", toolCallId: "c1", partialResult: { content: text("one") } }),
    );
    expect(player.screen().at(-3)).toContain("running exec");
    player.play(
      agent("r", "tool", { phase: "result", name: "exec", toolCallId: "c1", isError: false, result: { content: text("one\ntwo") } }),
      agent("r", "assistant", { text: "Two files.", delta: "" }),
    );
    expect(log(player).trim()).toBe("Let me look.\n\n✓ exec ls\n  │ one\n  │ two\n\n  Two files.");
  });

  test("that the history has in part is not shown twice", () => {
    const player = createPlayer();
    player.play(
      agent("r", "assistant", { text: "Let me look.", delta: "" }),
      agent("r", "tool", { phase: "start", name: "exec", toolCallId: "c1", args: { command: "ls" } }),
      agent("r", "tool", { phase: "result", name: "exec", toolCallId: "c1", isError: false }),
      agent("r", "tool", { phase: "start", name: "exec", toolCallId: "c2", args: { command: "pwd" } }),
      { type: "gap" },
    );
    const call = (id: string, command: string) => ({ type: "toolCall", id, name: "exec", arguments: { command } });
    const first = { role: "assistant", content: [...text("Let me look."), call("c1", "ls")], timestamp: NOW + 1 };
    const result = { role: "toolResult", toolCallId: "c1", toolName: "exec", content: text("one"), isError: false, timestamp: NOW + 2 };
    const second = { role: "assistant", content: [call("c2", "pwd")], timestamp: NOW + 3 };
    player.play(history(player, [user("look", NOW), first, result, second]));
    expect(log(player).trim()).toBe("› look\n\n  Let me look.\n\n✓ exec ls\n  │ one\n◌ exec pwd");
    player.play(agent("r", "tool", { phase: "result", name: "exec", toolCallId: "c2", isError: true, result: "denied" }));
    expect(log(player)).toContain("✗ exec pwd\n  │ denied");
  });

  test("is stopped with Escape, and says so", () => {
    const player = createPlayer();
    const runId = say(player, "hello");
    player.effects();
    player.keys("escape");
    expect(player.effects()).toEqual([{ kind: "abort", sessionKey: KEY }]);
    expect(player.screen().at(-3)).toContain("stopping");
    player.play(chat(runId, "aborted", "Hel"));
    expect(log(player)).toContain("(stopped)");
    expect(player.screen().at(-3)).toBe("ready");
  });

  test("that failed says why", () => {
    const player = createPlayer();
    player.play(chat(say(player, "hello"), "error", undefined, { errorMessage: "no key for acme" }));
    expect(log(player)).toContain("✗ no key for acme");
  });

  test("of another session is not shown", () => {
    const player = createPlayer();
    player.play(chat("other", "delta", "secret", { sessionKey: "agent:main:other" }));
    expect(log(player)).not.toContain("secret");
  });

  test("that went on without events is known from the history alone", () => {
    const player = createPlayer();
    player.play(
      chat("r", "delta", "half of the ans"),
      { type: "lost", why: "gone", retryAt: NOW },
      { type: "connected", hello: hello(), url: "ws://127.0.0.1:1" },
    );
    player.play(history(player, [user("q", NOW), answer("half of the answer, and the rest", NOW + 1)]));
    expect(times(player, "half of the ans")).toBe(1);
    expect(player.screen().at(-3)).toBe("ready");
  });

  test("many changes while the history is read are read once more, not once each", () => {
    const player = createPlayer();
    const changed = { type: "changed", sessionKey: KEY } as const;
    player.play(changed, changed, changed);
    expect(kinds(player)).toEqual([]);
    player.play(history(player, []));
    expect(kinds(player)).toEqual(["history"]);
    player.play(history(player, []));
    expect(kinds(player)).toEqual([]);
  });

  test("an older reading that comes late changes nothing", () => {
    const player = createPlayer();
    player.play({ type: "gap" }, { type: "gap" });
    player.play(history(player, [user("new")], 3), history(player, [user("old")], 2));
    expect(log(player)).toContain("new");
    expect(log(player)).not.toContain("old");
  });
});

describe("approvals", () => {
  const approval = { id: "a1", command: "rm -rf build\u001b[8m hidden", cwd: "/work", resolvedPath: "/usr/bin/rm", sessionKey: KEY, expiresAt: NOW + 60_000 };

  test("show exactly what will run, and take a decision only when asked for", () => {
    const player = createPlayer();
    player.play({ type: "asked", approval });
    expect(log(player)).toContain("rm -rf build\\u{1b}[8m hidden");
    expect(log(player)).toContain("program /usr/bin/rm");
    expect(log(player)).toContain("60 s left");
    player.type("y");
    player.keys("enter");
    expect(kinds(player)).toEqual(["send"]);
    player.keys("tab");
    player.type("y");
    expect(player.effects()).toEqual([{ kind: "decide", id: "a1", decision: "allow-once" }]);
  });

  test("are decided with arrows too, and left alone with Escape", () => {
    const player = createPlayer();
    player.play({ type: "asked", approval });
    player.keys("tab", "escape", "tab", "right", "right", "enter");
    expect(player.effects()).toEqual([{ kind: "decide", id: "a1", decision: "deny" }]);
    player.play({ type: "decided", id: "a1", decision: "deny", by: undefined });
    expect(player.state.approvals).toEqual([]);
    expect(log(player)).toContain("denied: rm -rf build");
  });

  test("end with their time", () => {
    const player = createPlayer();
    player.play({ type: "asked", approval });
    player.now += 61_000;
    player.play({ type: "tick" });
    expect(log(player)).toContain("Expired: ");
  });
});
