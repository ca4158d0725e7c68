import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import type { PluginDiagnostic } from "../record.ts";
import type { Binding } from "./binding.ts";
import { matchCommand, registerCommand, reservedCommand, runCommand } from "./commands.ts";
import type { CommandRegistration } from "./kinds.ts";
import { createLedger } from "./ledger.ts";
import { createTable } from "./table.ts";

function place() {
  const found: PluginDiagnostic[] = [];
  const ledger = createLedger({ pluginId: "p", source: "/p/index.ts", generation: 1, bundled: false }, (one) => void found.push(one));
  ledger.commit();
  const binding: Binding = {
    ledger,
    scope: {
      bind: (fn) => fn,
      bindTool:
        (fn) =>
        async (...args) =>
          fn(...args),
    },
    tell: () => {},
    nextNumber: () => 1,
  };
  const table = createTable<CommandRegistration>({ kind: "command", reserved: reservedCommand });
  return { table, found, add: (command: object) => registerCommand(binding, table, command) };
}

test("a command is found by its name in any case; arguments only where it takes them", () => {
  const { table, add } = place();
  add({ name: "Tell-me", description: "d", handler: () => ({}), acceptsArgs: true });
  add({ name: "bare", description: "d", handler: () => ({}) });
  const found = (text: string) => {
    const match = matchCommand(table, text);
    return match && [match.command.value.name, match.args];
  };
  expect(["/tell-me", "  /TELL-ME  all  about it ", "/tell-menot", "/bare", "/bare now", "bare", "/none", "/"].map(found)).toEqual([
    ["tell-me", undefined],
    ["tell-me", "all  about it"],
    undefined,
    ["bare", undefined],
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("arguments are cut to their length, and lose control characters but not tabs and lines", () => {
  const { table, add } = place();
  add({ name: "x", description: "d", handler: () => ({}), acceptsArgs: true });
  expect(matchCommand(table, "/x a\u0000b\tc\nd\u001b")?.args).toBe("ab\tc\nd");
  expect(matchCommand(table, `/x ${"y".repeat(5000)}`)?.args).toHaveLength(4096);
});

test.each(["help", "new", "status", "usage"])("/%s belongs to the gateway", (name) => {
  const { table, found, add } = place();
  add({ name, description: "d", handler: () => ({}) });
  expect([table.size, found[0]?.message]).toEqual([0, `command already registered: ${name} (requested by p, used by the gateway)`]);
});

test("an unauthorised sender gets a refusal, unless the command is for everybody; a failure and garbage are one reply", async () => {
  const { table, add } = place();
  const errors: unknown[] = [];
  const clock = manualClock();
  const run = (text: string, isAuthorizedSender: boolean) =>
    runCommand(matchCommand(table, text)!, { isAuthorizedSender }, { clock, onError: (id, error) => void errors.push([id, String(error)]) });
  add({ name: "closed", description: "d", handler: () => ({ text: "in" }) });
  add({ name: "open", description: "d", requireAuth: false, handler: ({ args }: { args?: string }) => ({ text: `open ${args}` }), acceptsArgs: true });
  add({ name: "fails", description: "d", handler: () => Promise.reject(new Error("secret detail")) });
  add({ name: "odd", description: "d", handler: () => 5 });
  add({ name: "hangs", description: "d", handler: () => new Promise(() => {}) });
  expect(await run("/closed", false)).toEqual({ text: "⚠️ This command requires authorization." });
  expect(await run("/closed", true)).toEqual({ text: "in" });
  expect(await run("/open up", false)).toEqual({ text: "open up" });
  expect(await run("/fails", true)).toEqual({ text: "⚠️ Command failed. Please try again later." });
  expect(await run("/odd", true)).toEqual({ text: "⚠️ Command failed. Please try again later." });
  const hangs = run("/hangs", true);
  clock.advance(60_000);
  expect(await hangs).toEqual({ text: "⚠️ /hangs did not finish within 60 seconds and was stopped." });
  expect(errors).toEqual([
    ["p", "Error: secret detail"],
    ["p", "TypeError: the command /odd must return a reply payload, but returned a number"],
    ["p", "AppError: the command /hangs did not finish within 60 s"],
  ]);
});

test("a command that is stopped ends at once, listening or not, and what it says later is reported and dropped", async () => {
  const { table, add } = place();
  const errors: unknown[] = [];
  const late: string[] = [];
  const stop = new AbortController();
  const ends: ((reply: object) => void)[] = [];
  let heard: unknown;
  add({ name: "deaf", description: "d", handler: () => new Promise((resolve) => ends.push(resolve)) });
  add({
    name: "listens",
    description: "d",
    handler: ({ signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          heard = signal.reason;
          reject(signal.reason as Error);
        });
      }),
  });
  const run = (text: string, signal: AbortSignal) =>
    runCommand(
      matchCommand(table, text)!,
      { isAuthorizedSender: true },
      { clock: manualClock(), signal, onError: (_, error) => void errors.push(error), onLate: (id, message) => void late.push(`${id}: ${message}`) },
    );
  const both = [run("/deaf", stop.signal), run("/listens", stop.signal)];
  stop.abort();
  expect(await Promise.all(both)).toEqual([undefined, undefined]);
  expect([String(heard), late]).toEqual(["AppError: the command /listens was stopped", []]);
  ends[0]!({ text: "too late" });
  await new Promise(setImmediate);
  expect([late, errors]).toEqual([["p: /deaf finished after it was stopped; its result is dropped"], []]);
  expect(await run("/deaf", stop.signal)).toBeUndefined();
  expect(ends).toHaveLength(1);
});
