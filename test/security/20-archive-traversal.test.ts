import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tarOf, tgzOf, zipOf, type ArchiveEntry } from "../harness/archives.ts";
import { makeInstallPlace, pluginEntries, pluginFiles, type InstallPlace } from "../harness/install-place.ts";

/** Of this process alone: a copy of the program without its defence may have left one. */
const CANARY = `escaped-${process.pid}-${Date.now()}`;

/** Everything below a folder, with what it holds: what an install outside of its place would change. */
function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    found[path] = entry.isFile() ? readFileSync(path, "latin1") : entry.isDirectory() ? "folder" : "other";
  }
  return found;
}

async function refuses(place: InstallPlace, spec: string): Promise<string> {
  mkdirSync(place.extensions, { recursive: true });
  const before = snapshot(place.home);
  const error = await place.install(spec).then(
    () => "installed",
    (caught: Error) => caught.message,
  );
  expect(snapshot(place.home)).toEqual(before);
  expect(place.config()).toEqual({});
  return error;
}

/** Names that must never become a place on the disk. */
const NAMES: readonly [string, string][] = [
  ["one folder up", `../${CANARY}`],
  ["up and down again", `package/../../${CANARY}`],
  ["hidden among dots", `package/./.././../${CANARY}`],
  ["many folders up", `${"../".repeat(12)}tmp/${CANARY}`],
  ["an absolute path", `/tmp/${CANARY}`],
  ["two slashes in front", `//tmp/${CANARY}`],
  ["a drive letter", `C:/${CANARY}`],
  ["a drive letter without a slash", `c:${CANARY}`],
  ["backslashes", `..\\..\\${CANARY}`],
  ["a backslash inside", `package\\${CANARY}`],
  ["a very long name", `package/${"x".repeat(2000)}`],
  ["very deep", `package/${"d/".repeat(80)}x`],
];

describe("names that lead out of the folder", () => {
  test.each(NAMES)("%s", async (_what, name) => {
    for (const [ending, make] of [
      [".tgz", tgzOf],
      [".tar", tarOf],
      [".zip", async (entries: readonly ArchiveEntry[]) => zipOf(entries)],
    ] as const) {
      const place = makeInstallPlace();
      place.write("", { [`evil${ending}`]: await make([...pluginEntries("voice"), { name, content: CANARY }]) });
      expect([ending, await refuses(place, `./evil${ending}`)]).toEqual([ending, expect.not.stringMatching(/^installed$/)]);
    }
    expect(existsSync(`/tmp/${CANARY}`)).toBe(false);
  });

  test("a NUL in a name", async () => {
    const place = makeInstallPlace();
    place.write("", { "evil.zip": zipOf([...pluginEntries("voice"), { name: `package/a\0b`, content: CANARY }]) });
    expect(await refuses(place, "./evil.zip")).toContain("NUL");
  });
});

describe("links", () => {
  const LINKS: readonly [string, readonly ArchiveEntry[]][] = [
    ["a link to an absolute path", [{ name: "package/l", type: "symlink", target: "/etc/passwd" }]],
    ["a link out of the folder", [{ name: "package/l", type: "symlink", target: "../../../outside" }]],
    ["a link to nowhere", [{ name: "package/l", type: "symlink", target: "missing" }]],
    [
      "a file written through a link",
      [
        { name: "package/l", type: "symlink", target: "../../.." },
        { name: `package/l/${CANARY}`, content: CANARY },
      ],
    ],
    [
      "two links that lead out together",
      [
        { name: "package/a/b/c/keep", content: "" },
        { name: "package/down", type: "symlink", target: "a/b/c" },
        { name: "package/out", type: "symlink", target: "down/../../../../.." },
      ],
    ],
    [
      "a link in the place of a file that comes again",
      [
        { name: "package/twice", type: "symlink", target: "index.js" },
        { name: "package/twice", content: CANARY },
      ],
    ],
  ];
  test.each(LINKS)("%s", async (_what, entries) => {
    for (const [ending, content] of [
      [".tar", await tarOf([...pluginEntries("voice"), ...entries])],
      [".zip", zipOf([...pluginEntries("voice"), ...entries])],
    ] as const) {
      const place = makeInstallPlace();
      place.write("", { [`evil${ending}`]: content });
      expect([ending, await refuses(place, `./evil${ending}`)]).toEqual([ending, expect.not.stringMatching(/^installed$/)]);
    }
  });

  test.each([
    ["to an absolute path", "/etc/passwd"],
    ["out of the folder", "../../../../etc/passwd"],
    ["to nothing of the archive", "package/missing"],
  ])("a hard link %s", async (_what, target) => {
    const place = makeInstallPlace();
    place.write("", { "evil.tar": await tarOf([...pluginEntries("voice"), { name: "package/l", type: "link", target }]) });
    expect(await refuses(place, "./evil.tar")).not.toBe("installed");
  });

  test("a hard link to a file of the archive becomes a copy, a link inside of it stays one", async () => {
    const place = makeInstallPlace();
    const entries: ArchiveEntry[] = [
      { name: "package/same.js", type: "link", target: "package/index.js" },
      { name: "package/also.js", type: "symlink", target: "index.js" },
    ];
    place.write("", { "fine.tar": await tarOf([...pluginEntries("voice"), ...entries]) });
    await place.install("./fine.tar");
    const text = readFileSync(join(place.extensions, "voice/index.js"), "utf8");
    expect(readFileSync(join(place.extensions, "voice/same.js"), "utf8")).toBe(text);
    expect(realpathSync(join(place.extensions, "voice/also.js"))).toBe(join(place.extensions, "voice/index.js"));
  });

  test("a folder that is copied has no link out of it either", async () => {
    const place = makeInstallPlace();
    const secret = join(mkdtempSync(join(tmpdir(), "openclaw-outside-")), "secret");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(place.write("mine", pluginFiles("voice")), "l"));
    expect(await refuses(place, "./mine")).toContain("leaves the plugin's folder");
  });

  test("a hard link in a folder is copied: who changes the other name changes nothing here", async () => {
    const place = makeInstallPlace();
    const folder = place.write("mine", pluginFiles("voice"));
    writeFileSync(join(place.home, "other"), "before");
    linkSync(join(place.home, "other"), join(folder, "data"));
    await place.install("./mine");
    writeFileSync(join(place.home, "other"), "after");
    expect(readFileSync(join(place.extensions, "voice/data"), "utf8")).toBe("before");
  });
});

describe("things that are no files", () => {
  test.each(["fifo", "character-device", "block-device"] as const)("%s", async (type) => {
    const place = makeInstallPlace();
    place.write("", { "evil.tar": await tarOf([...pluginEntries("voice"), { name: "package/thing", type }]) });
    expect(await refuses(place, "./evil.tar")).toContain(type);
  });

  test("in a zip", async () => {
    const place = makeInstallPlace();
    place.write("", { "evil.zip": zipOf([...pluginEntries("voice"), { name: "package/thing", type: "fifo" }]) });
    expect(await refuses(place, "./evil.zip")).toContain("not a file, folder or link");
  });
});

describe("bombs", () => {
  const SMALL = {
    entries: 50,
    entriesWithDependencies: 60,
    archiveBytes: 1024 * 1024,
    bytes: 4 * 1024 * 1024,
    ratio: 20,
    ratioFromBytes: 256 * 1024,
    pathLength: 200,
    depth: 10,
  };
  const zeros = (bytes: number): ArchiveEntry => ({ name: "package/zeros", content: Buffer.alloc(bytes) });
  const small = (): InstallPlace => makeInstallPlace({}, { limits: SMALL });

  test("a few kilobytes that unpack to megabytes", async () => {
    for (const [ending, content] of [
      [".tgz", await tgzOf([...pluginEntries("voice"), zeros(3 * 1024 * 1024)])],
      [".zip", zipOf([...pluginEntries("voice"), zeros(3 * 1024 * 1024)])],
    ] as const) {
      const place = small();
      place.write("", { [`bomb${ending}`]: content });
      expect([ending, await refuses(place, `./bomb${ending}`)]).toEqual([ending, expect.stringContaining("20 times its size")]);
    }
  });

  test("more bytes than are taken", async () => {
    const place = small();
    const noise = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
    place.write("", {
      "big.tar": await tarOf([
        ...pluginEntries("voice"),
        { name: "package/a", content: noise },
        { name: "package/b", content: noise },
        { name: "package/c", content: noise },
        { name: "package/d", content: noise },
      ]),
    });
    expect(await refuses(place, "./big.tar")).toContain("at most 1 MB");
  });

  test("more entries than are taken", async () => {
    const place = small();
    const many = Array.from({ length: 80 }, (_, at) => ({ name: `package/f${at}`, content: "" }));
    place.write("", { "many.tgz": await tgzOf([...pluginEntries("voice"), ...many]) });
    expect(await refuses(place, "./many.tgz")).toContain("more than 50 entries");
  });

  test("a zip that lies about its sizes", async () => {
    const place = small();
    place.write("", { "liar.zip": zipOf([...pluginEntries("voice"), zeros(3 * 1024 * 1024)], { claimedSize: 10 }) });
    expect(await refuses(place, "./liar.zip")).not.toBe("installed");
  });

  test("what is no archive, or half of one", async () => {
    const whole = await tgzOf(pluginEntries("voice", { code: "x".repeat(100_000) }));
    const broken = {
      "noise.tgz": Buffer.from("this is no archive"),
      "half.tgz": whole.subarray(0, whole.length / 2),
      "noise.zip": Buffer.from("PK not a zip"),
      "empty.tar": Buffer.alloc(0),
      "gzip.tgz": gzipSync("no tar in here"),
    };
    for (const [name, content] of Object.entries(broken)) {
      const place = small();
      place.write("", { [name]: content });
      expect([name, await refuses(place, `./${name}`)]).toEqual([name, expect.not.stringMatching(/^installed$/)]);
    }
  });
});
