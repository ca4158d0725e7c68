// `scp` between this machine and a folder that stands for the other one: `--root <folder> --log <file>`, then the arguments of scp.
import { appendFileSync, cpSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const [, root, , log, ...args] = process.argv.slice(2);
appendFileSync(log, `${JSON.stringify(["scp", ...args])}\n`);
const end = args.indexOf("--");
const [from, to] = args.slice(end + 1);
const here = (path) => {
  const [, remote] = /^[^/]+?:(.+)$/.exec(path) ?? [];
  return remote === undefined ? path : join(root, remote);
};
try {
  const isFolder = args.includes("-r");
  const target = isFolder || to.endsWith("/") ? join(here(to), basename(from)) : here(to);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(here(from), target, { recursive: isFolder });
} catch (error) {
  process.stderr.write(`scp: ${from}: ${error.code === "ENOENT" ? "No such file or directory" : error.message}\n`);
  process.exit(1);
}
