import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** `gog`, `gcloud` and `tailscale` as programs: they record their calls, and `gog gmail watch serve` takes pushes and posts mail. */
export interface GooglePrograms extends Disposable {
  /** PATH that finds them first. */
  readonly path: string;
  /** Every call so far: the program and its arguments. */
  calls(): readonly (readonly string[])[];
  /** What a program says instead of doing anything, from now on; undefined makes it well again. */
  breakDown(program: "gog" | "gcloud" | "tailscale", says: string | undefined): void;
  remove(program: "gog" | "gcloud" | "tailscale"): void;
}

const PROGRAM = (folder: string, name: string): string => `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const folder = ${JSON.stringify(folder)};
const args = process.argv.slice(2);
appendFileSync(folder + "/calls", JSON.stringify([${JSON.stringify(name)}, ...args]) + "\\n");
const broken = folder + "/${name}.broken";
if (existsSync(broken)) { console.error(readFileSync(broken, "utf8")); process.exit(1); }
const flag = (wanted) => args[args.indexOf(wanted) + 1];
const line = args.join(" ");
if (${JSON.stringify(name)} === "gcloud") {
  const made = folder + "/made-" + args[1] + "-" + args[3];
  if (line.startsWith("auth list")) console.log("me@example.org");
  if (line.startsWith("config get-value")) console.log("my-project");
  if (args[2] === "describe" && !existsSync(made)) process.exit(1);
  if (args[2] === "create") writeFileSync(made, "");
}
if (${JSON.stringify(name)} === "tailscale" && args[0] === "status") console.log(JSON.stringify({ Self: { DNSName: "box.tail.ts.net." } }));
if (line.startsWith("gmail watch serve")) {
  const server = require("node:http").createServer((request, response) => {
    const url = new URL(request.url, "http://x");
    if (url.pathname === "/end") process.exit(7);
    if (url.pathname !== flag("--path") || url.searchParams.get("token") !== flag("--token")) return response.writeHead(403).end();
    const mail = { id: url.searchParams.get("id"), from: "eve@example.org", subject: "Hello", snippet: url.searchParams.get("text"), body: "" };
    fetch(flag("--hook-url"), {
      method: "POST",
      headers: { authorization: "Bearer " + flag("--hook-token"), "content-type": "application/json" },
      body: JSON.stringify({ source: "gmail", messages: [mail] }),
    }).then((answer) => response.writeHead(answer.status).end(), () => response.writeHead(502).end());
  });
  server.on("error", (error) => { console.error("listen: " + error.message); process.exit(1); });
  server.listen(Number(flag("--port")), flag("--bind"), () => console.log("watch: listening"));
}
`;

export function makeGooglePrograms(): GooglePrograms {
  const folder = mkdtempSync(join(tmpdir(), "fake-google-"));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["gog", "gcloud", "tailscale"]) {
    writeFileSync(join(bin, name), PROGRAM(folder, name));
    chmodSync(join(bin, name), 0o755);
  }
  const calls = join(folder, "calls");
  return {
    path: `${bin}${delimiter}${process.env["PATH"]}`,
    calls: () => {
      const lines = existsSync(calls) ? readFileSync(calls, "utf8").split("\n").slice(0, -1) : [];
      return lines.map((line) => JSON.parse(line) as string[]);
    },
    breakDown(program, says) {
      const broken = join(folder, `${program}.broken`);
      if (says === undefined) rmSync(broken, { force: true });
      else writeFileSync(broken, says);
    },
    remove: (program) => rmSync(join(bin, program)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
