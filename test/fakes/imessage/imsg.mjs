// `imsg` as a program: what it says and does is decided by the fake that listens beside the database.
import { createConnection } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const args = process.argv.slice(2);
const named = args.indexOf("--db");
const db = named < 0 ? join(homedir(), "Library/Messages/chat.db") : args[named + 1];

function fail(text, code = 1) {
  process.stderr.write(`${text}\n`, () => process.exit(code));
}

if (args[0] !== "rpc") fail(`imsg: unknown command ${args[0] ?? ""}`, 64);
else {
  const socket = createConnection(`${db}.sock`);
  socket.on("error", () => fail(`unable to open database file ${db}`));
  let isEnding = false;
  socket.on("close", () => isEnding || process.exit(1));
  socket.on("connect", () => {
    socket.write(`${JSON.stringify({ args, pid: process.pid })}\n`);
    process.stdin.pipe(socket);
  });
  createInterface({ input: socket }).on("line", (line) => {
    const { out, err, exit } = JSON.parse(line);
    if (out !== undefined) process.stdout.write(out);
    if (err !== undefined) process.stderr.write(err);
    // Behind everything that is still to be written.
    isEnding ||= exit !== undefined;
    if (exit !== undefined) process.stdout.write("", () => process.exit(exit));
  });
}
