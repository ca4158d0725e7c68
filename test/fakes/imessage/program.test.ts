import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { type FakeMessages, startMessages } from "./index.ts";

/** The program as any client runs it. */
function start({ cliPath, dbPath }: FakeMessages) {
  const child = spawn(cliPath, ["rpc", "--db", dbPath], { stdio: ["pipe", "pipe", "pipe"] });
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => void lines.push(JSON.parse(line) as Record<string, unknown>));
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const exited = new Promise<number | null>((resolve) => void child.on("exit", resolve));
  let count = 0;
  return {
    lines,
    exited,
    errors: () => errors,
    end: () => child.stdin.end(),
    async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
      const id = (count += 1);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      await expect.poll(() => lines.some((line) => line["id"] === id)).toBe(true);
      return lines.find((line) => line["id"] === id)!;
    },
  };
}

test("chats, history, and a watch that begins now or behind a row", async () => {
  await using mac = await startMessages();
  const direct = mac.direct("+15550100");
  mac.say("+15550100", direct, "one");
  mac.say("+15550100", direct, "two");
  const program = start(mac);
  expect(await program.ask("chats.list", { limit: 1 })).toMatchObject({ result: { chats: [{ id: 1, identifier: "+15550100", is_group: false }] } });
  expect(await program.ask("messages.history", { chat_id: 1, limit: 1 })).toMatchObject({ result: { messages: [{ id: 2, text: "two" }] } });
  expect(await program.ask("watch.subscribe", { since_rowid: 1 })).toMatchObject({ result: { subscription: 1 } });
  mac.say("+15550100", direct, "three");
  const texts = () => program.lines.flatMap((line) => (line["method"] === "message" ? (line["params"] as { message: { text: string } }).message.text : []));
  await expect.poll(texts).toEqual(["two", "three"]);
  const other = start(mac);
  await other.ask("watch.subscribe");
  expect(other.lines).toHaveLength(1);
  for (const one of [program, other]) one.end();
  expect(await Promise.all([program.exited, other.exited])).toEqual([0, 0]);
});

test("errors are those of imsg", async () => {
  await using mac = await startMessages();
  const program = start(mac);
  const code = async (method: string, params: object) => ((await program.ask(method, params))["error"] as { code: number; data: string } | undefined)?.data;
  expect(await code("send", { to: "+15550100", chat_id: 1, text: "x" })).toBe("use to or chat_*; not both");
  expect(await code("send", { text: "x" })).toBe("to is required for direct sends");
  expect(await code("send", { to: "+15550100" })).toBe("text or file is required");
  expect(await code("send", { chat_id: 9, text: "x" })).toBe("unknown chat_id 9");
  expect(await code("send", { to: "+15550100", text: "x", service: "fax" })).toBe("invalid service");
  expect(await code("nothing", {})).toBe("nothing");
  expect(await code("send", { to: "+15550100", text: "x" })).toBeUndefined();
  mac.deny(true);
  expect(await program.exited).toBe(1);
  expect(program.errors()).toContain("Full Disk Access");
});

test("ssh runs it, and scp copies from and to the other machine", async () => {
  await using mac = await startMessages({ remote: true });
  const here = join(mac.folder, "here");
  mkdirSync(here);
  writeFileSync(join(here, "a b.txt"), "text");
  const scp = (...args: string[]) => execFileSync(join(mac.bin, "scp"), ["-q", ...args]);
  scp("-r", "--", here, "claw@mac:/tmp/");
  scp("--", "claw@mac:/tmp/here/a b.txt", join(mac.folder, "copy"));
  expect(readFileSync(join(mac.folder, "copy"), "utf8")).toBe("text");
  expect(() => execFileSync(join(mac.bin, "scp"), ["--", "claw@mac:/nothing", here], { stdio: "pipe" })).toThrow("No such file");
  expect(mac.calls()).toHaveLength(3);
});
