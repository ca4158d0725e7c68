import { expect, test } from "vitest";
import { childEnvironment, run, startChild } from "./spawn.ts";

const limits = { env: { PATH: process.env["PATH"] }, timeoutMs: 10_000, maxOutputBytes: 10_000 };
const script = (code: string) => ({ ...limits, args: ["-e", code] });

test("a child's exit code and both outputs are returned", async () => {
  expect(await run(process.execPath, script("console.log('out'); console.error('err'); process.exit(3)"))).toEqual({
    code: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("input reaches the child", async () => {
  expect((await run("cat", { ...limits, input: "hello" })).stdout).toBe("hello");
});

test("arguments are never interpreted by a shell", async () => {
  expect((await run("echo", { ...limits, args: ["$(id)", ";", "id"] })).stdout).toBe("$(id) ; id\n");
});

test("variables that load foreign code do not reach the child", () => {
  const env = { PATH: "/bin", NODE_OPTIONS: "--require x", LD_PRELOAD: "x", BASH_ENV: "x", "BASH_FUNC_x%%": "() { id; }", HOME: "/h", EMPTY: undefined };
  expect(childEnvironment(env)).toEqual({ PATH: "/bin", HOME: "/h" });
});

test("a child that takes too long is killed with everything it started", async () => {
  await expect(run("sh", { ...limits, args: ["-c", "sleep 60 & wait"], timeoutMs: 50 })).rejects.toMatchObject({ code: "TIMEOUT" });
});

test("a child with endless output is killed", async () => {
  await expect(run("yes", limits)).rejects.toMatchObject({ code: "OVERLOADED" });
});

test("a cancelled child is killed", async () => {
  const controller = new AbortController();
  const running = run("sleep", { ...limits, args: ["60"], signal: controller.signal });
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
});

test("a missing program is named", async () => {
  await expect(run("no-such-program-here", limits)).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("no-such-program-here") });
});

test("a started child reports its output as it comes, and how it ended", async () => {
  const output: string[] = [];
  const child = await startChild("/bin/sh", {
    args: ["-c", "echo out; echo err >&2; exit 3"],
    cwd: "/",
    env: limits.env,
    onOutput: (stream, chunk) => void output.push(`${stream} ${chunk.toString()}`),
  });
  expect(await child.exited).toEqual({ code: 3, signal: null });
  expect(output.sort()).toEqual(["stderr err\n", "stdout out\n"]);
  expect(child.signal("SIGTERM"), "nobody is left").toBe(false);
});

test("a child's output is not read while its consumer is busy, and none of it is lost", async () => {
  let received = 0;
  let isBusy = false;
  const early: number[] = [];
  const child = await startChild("/bin/sh", {
    args: ["-c", "head -c 4000000 /dev/zero"],
    cwd: "/",
    env: limits.env,
    onOutput(_stream, chunk) {
      received += chunk.length;
      if (isBusy) early.push(received);
      isBusy = true;
      return new Promise((resolve) => setImmediate(() => setImmediate(resolve))).then(() => void (isBusy = false));
    },
  });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(received).toBe(4_000_000);
  // Output left in the pipe when the child ends is read at once.
  expect(early.filter((at) => at < 3_000_000)).toEqual([]);
});

test("processes that a child leaves behind do not delay its exit", async () => {
  const child = await startChild("/bin/sh", { args: ["-c", "sleep 60 & exit 0"], cwd: "/", env: limits.env, onOutput: () => undefined });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.signal("SIGKILL"), "the rest of its group").toBe(true);
});

test("a child that cannot start is reported", async () => {
  await expect(startChild("/no/such/program", { args: [], cwd: "/", env: {}, onOutput: () => undefined })).rejects.toMatchObject({ code: "IO_ERROR" });
  await expect(startChild("/bin/sh", { args: [], cwd: "/no/such/folder", env: {}, onOutput: () => undefined })).rejects.toMatchObject({ code: "IO_ERROR" });
});
