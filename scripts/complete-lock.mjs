// Adds to package-lock.json the optional platform packages that the registry at hand did not list, so that `npm ci` works on every platform and with
// every registry: npm leaves out what it cannot resolve, and then refuses its own lock file. Run it after `npm install`.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(FILE, "utf8"));
const SYSTEMS = ["linux", "darwin", "win32", "android", "freebsd", "openharmony", "aix", "sunos", "netbsd", "openbsd"];
const CPUS = ["x64", "arm64", "arm", "ia32", "riscv64", "ppc64", "s390x", "loong64", "wasm32", "mips64el"];

function platformOf(name) {
  const words = name.split("/").pop().split("-");
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = CPUS.filter(
    (kind) => words.includes(kind) || (kind === "arm" && words.some((word) => /^(?:gnu|musl)?eabi(?:hf)?$/.test(word)) && words.includes("arm")),
  );
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}), ...(libc.length > 0 ? { libc } : {}) };
}

/** Where Node would find `name` from a package at `path`: the nearest first. */
function* placesFrom(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    yield at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (at === "") return;
    if (!at.includes("/node_modules/")) {
      yield `node_modules/${name}`;
      return;
    }
  }
}

let added = 0;
for (const [path, entry] of Object.entries({ ...lock.packages })) {
  for (const [name, wanted] of Object.entries(entry.optionalDependencies ?? {})) {
    const version = wanted.replace(/^[^0-9]*/, "");
    const places = [...placesFrom(path, name)];
    const found = places.find((place) => lock.packages[place]);
    if (found && (lock.packages[found].version === version || wanted !== version)) continue;
    // As high as it can go: beside another version it goes below the package that needs it.
    const beside = places.findLast((place) => !lock.packages[place]) ?? places[0];
    const target = found ? places[Math.max(0, places.indexOf(found) - 1)] : beside;
    lock.packages[target] = { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true };
    added += 1;
  }
}
const { "": root, ...packages } = lock.packages;
lock.packages = { "": root, ...Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))) };
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} platform packages added`);
