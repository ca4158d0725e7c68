import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hostInScript, isBelow } from "./attachments.ts";
import { ANNA, openBench, type Bench } from "./testing.ts";

const PNG = { name: "a b.png", mime: "image/png", data: Buffer.from("png") };

/** The first file that comes with a message. */
async function receive(bench: Bench, more: Record<string, unknown>, file: Parameters<Bench["mac"]["say"]>[3]) {
  await using account = await bench.run({ includeAttachments: true, ...more });
  bench.mac.say(ANNA, bench.direct, "see", file);
  const { media = [], text } = await account.event(({ text: words }) => words === "see");
  return { media, text };
}

const fetchOf = (bench: Bench, ref: unknown, more: Record<string, unknown> = {}, maxBytes = 1000) =>
  bench.channel.media!.fetch({ cfg: bench.cfg(more), accountId: "default", ref, maxBytes, signal: new AbortController().signal });

test("a file that came is read from its folder, up to the limit", async () => {
  await using bench = await openBench();
  const { media } = await receive(bench, {}, { file: PNG });
  expect(media).toMatchObject([{ kind: "image", mimeType: "image/png", fileName: "a b.png", bytes: 3 }]);
  expect((await fetchOf(bench, media[0]!.ref)).data).toEqual(PNG.data);
  await expect(fetchOf(bench, media[0]!.ref, {}, 2)).rejects.toMatchObject({ code: "TOO_LARGE" });
  await expect(fetchOf(bench, {})).rejects.toThrow("needs a path");
});

test("a file that comes after its message is waited for, and not forever", async () => {
  await using bench = await openBench();
  const { media } = await receive(bench, {}, { file: { ...PNG, isMissing: true } });
  expect(media).toMatchObject([{ kind: "image", ref: { isLate: true } }]);
  await expect(fetchOf(bench, media[0]!.ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { path } = media[0]!.ref as { path: string };
  await expect(fetchOf(bench, { path }), "without being late").rejects.toMatchObject({ code: "NOT_FOUND" });
  const fetched = fetchOf(bench, media[0]!.ref);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, PNG.data);
  expect((await fetched).data).toEqual(PNG.data);
});

test("files elsewhere are not read, whatever a message says and wherever links lead", async () => {
  await using bench = await openBench();
  const folder = mkdtempSync(join(tmpdir(), "elsewhere-"));
  try {
    const secret = join(folder, "secret");
    writeFileSync(secret, "secret");
    mkdirSync(bench.mac.attachments, { recursive: true });
    const link = join(bench.mac.attachments, "link");
    symlinkSync(secret, link);
    const paths = [secret, `${bench.mac.attachments}/../secret`, link, "relative", bench.mac.attachments];
    for (const path of paths) await expect(fetchOf(bench, { path })).rejects.toMatchObject({ code: "FORBIDDEN" });
    // Folders of the channel and of the account both count.
    const accounts = { work: { attachmentRoots: [folder] } };
    const cfg = bench.cfg({ accounts });
    const { data } = await bench.channel.media!.fetch({
      cfg,
      accountId: "work",
      ref: { path: secret },
      maxBytes: 100,
      signal: new AbortController().signal,
    });
    expect(String(data)).toBe("secret");
    expect(bench.channel.config.resolveAccount(cfg, "work").roots).toContain(bench.mac.attachments);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a path is below a folder part by part", () => {
  const roots = ["/Users/*/Library/Messages/Attachments"];
  expect(isBelow("/Users/anna/Library/Messages/Attachments/ab/x.png", roots)).toBe(true);
  for (const path of [
    "/Users/anna/Library/Messages/Attachments",
    "/Users/anna/Library/Messages/AttachmentsX/x",
    "/Users/a/b/Library/Messages/Attachments/x",
    "/Users/anna/Library/Messages/Attachments/../../x",
    "Users/anna/Library/Messages/Attachments/x",
  ])
    expect(isBelow(path, roots), path).toBe(false);
});

test("the Mac is read from a script that uses ssh", () => {
  const scripts: [string, string | undefined][] = [
    ['#!/bin/sh\nexec ssh -T bot@mac.local imsg "$@"', "bot@mac.local"],
    ['#!/usr/bin/env bash\nset -e\n/usr/bin/ssh -o BatchMode=yes -i ~/.ssh/key -p 2222 "studio" /opt/homebrew/bin/imsg "$@"\n', "studio"],
    ['#!/bin/sh\n# ssh old@host imsg\nexec imsg "$@"', undefined],
    ["#!/bin/sh\nssh $HOST imsg", undefined],
  ];
  for (const [script, host] of scripts) expect(hostInScript(script), script).toBe(host);
});

/** A bench whose program is a script that signs in to another Mac. */
async function openRemote(): Promise<Bench & { readonly script: string }> {
  const bench = await openBench({ remote: true });
  const script = join(bench.mac.folder, "imsg-on-mac");
  writeFileSync(script, '#!/bin/sh\nexec ssh -T claw@mac.local imsg "$@"\n', { mode: 0o755 });
  return { ...bench, script };
}

test("with a script messages and files come over ssh and scp, with keys that are known", async () => {
  await using bench = await openRemote();
  const { mac, script } = bench;
  const keys = { cliPath: script, attachmentRoots: [] };
  const { media } = await receive(bench, keys, { file: PNG });
  expect((await fetchOf(bench, media[0]!.ref, keys)).data).toEqual(PNG.data);
  const [ssh, scp] = mac.calls();
  expect(ssh).toEqual(["ssh", `-T claw@mac.local imsg rpc --db ${mac.dbPath}`]);
  expect(scp!.slice(0, 7)).toEqual(["scp", "-q", "-B", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]);
  expect(scp!.at(-2)).toMatch(/^claw@mac\.local:\/Users\/claw\/Library\/Messages\/Attachments\/.*\/a b\.png$/);
});

test("what could be misread on the other side, or is not in its folders, is not copied", async () => {
  await using bench = await openRemote();
  const keys = { cliPath: bench.script, attachmentRoots: [], remoteAttachmentRoots: ["/Volumes/*/Files"] };
  const root = "/Users/claw/Library/Messages/Attachments";
  for (const path of ["/etc/passwd", `${root}/$(touch x)`, `${root}/a;b`, `${root}/*`, `${root}/../../x`, "/Volumes/Files/x"])
    await expect(fetchOf(bench, { path }, keys)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(bench.mac.calls()).toEqual([]);
  await expect(fetchOf(bench, { path: "/Volumes/disk/Files/x" }, keys)).rejects.toThrow("is not on the Mac");
});

test("a file that is sent is on the Mac before imsg is asked for it", async () => {
  await using bench = await openRemote();
  const folder = mkdtempSync(join(tmpdir(), "out-"));
  try {
    writeFileSync(join(folder, "chart.png"), Buffer.from("89504e470d0a1a0a", "hex"));
    const cfg = bench.cfg({ remoteHost: "claw@mac.local" });
    await bench.channel.outbound!.sendMedia!({ cfg, to: ANNA, text: "", mediaUrl: join(folder, "chart.png"), mediaLocalRoots: [folder] });
    expect(bench.mac.rows.map(({ file }) => [file?.name, file?.data.toString("hex")])).toEqual([["chart.png", "89504e470d0a1a0a"]]);
    expect(String(bench.mac.asked.find(({ method }) => method === "send")!.params["file"])).toMatch(/^\/tmp\/openclaw-imessage-\w+\/chart\.png$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
