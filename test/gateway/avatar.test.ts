import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { startSurface, type TestSurface } from "../harness/http-surface.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const SECRET = "what is not for pages";

let place: string;
let workspace: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "avatar-"));
  workspace = join(place, "workspace");
  mkdirSync(join(workspace, "pictures"), { recursive: true });
  writeFileSync(join(workspace, "pictures", "claw.txt"), PNG);
  writeFileSync(join(workspace, "notes.png"), SECRET);
  writeFileSync(join(workspace, "drawn.svg"), "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>");
  writeFileSync(join(workspace, "large.png"), Buffer.concat([PNG, Buffer.alloc(2 * 1024 * 1024)]));
  writeFileSync(join(workspace, "empty.png"), "");
  writeFileSync(join(place, "outside.png"), PNG);
  symlinkSync(join(place, "outside.png"), join(workspace, "link.png"));
  symlinkSync(place, join(workspace, "up"));
  symlinkSync("pictures/claw.txt", join(workspace, "inner.png"));
  execFileSync("mkfifo", [join(workspace, "pipe.png")]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const agents = (): Readonly<Record<string, string>> => ({
  claw: "pictures/claw.txt",
  whole: join(workspace, "pictures", "claw.txt"),
  inner: "inner.png",
  data: `data:image/png;base64,${PNG.toString("base64")}`,
  remote: "https://example.com/claw.png",
  notes: "notes.png",
  svg: "drawn.svg",
  html: `data:text/html;base64,${Buffer.from("<script>1</script>").toString("base64")}`,
  liar: `data:image/png;base64,${Buffer.from("<script>1</script>").toString("base64")}`,
  large: "large.png",
  empty: "empty.png",
  link: "link.png",
  up: "up/outside.png",
  dots: "../outside.png",
  far: join(place, "outside.png"),
  pipe: "pipe.png",
  folder: "pictures",
  gone: "gone.png",
});

function start(controlUi: object = {}): Promise<TestSurface> {
  const list = [{ id: "main" }, ...Object.entries(agents()).map(([id, avatar]) => ({ id: id === "claw" ? "Claw" : id, identity: { avatar } }))];
  const config = { gateway: { controlUi }, agents: { list } } as OpenClawConfig;
  return startSurface({ config, workspaceOf: () => workspace });
}

describe("at the root", () => {
  let gateway: TestSurface;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each(["claw", "CLAW", "whole", "inner", "data"])("the picture of %s is sent, by its content a picture, and may do nothing", async (id) => {
    const { status, headers, bytes } = await gateway.ask(`/avatar/${id}`);
    expect([status, headers["content-type"], bytes.equals(PNG)]).toEqual([200, "image/png", true]);
    expect(headers["content-security-policy"]).toContain("sandbox");
    expect([headers["x-content-type-options"], headers["cross-origin-resource-policy"]]).toEqual(["nosniff", "same-origin"]);
  });

  test.each([
    "notes",
    "svg",
    "html",
    "liar",
    "large",
    "empty",
    "link",
    "up",
    "dots",
    "far",
    "pipe",
    "folder",
    "gone",
    "remote",
    "main",
    "nobody",
    "..%2f..%2fetc",
    "",
    "claw/x",
    "%2e%2e",
  ])("nothing is sent for %j", async (id) => {
    const { status, body } = await gateway.ask(`/avatar/${id}`);
    expect([status, body.includes(SECRET), body.includes(place)]).toEqual([id === "%2e%2e" || id.includes("%2f") ? expect.any(Number) : 404, false, false]);
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test("where a picture is can be asked; who has none has null", async () => {
    const meta = async (id: string): Promise<unknown> => (await gateway.ask(`/avatar/${id}?meta=1`)).json();
    expect(await Promise.all(["claw", "remote", "data", "notes", "link", "main", "nobody"].map(meta))).toEqual([
      { avatarUrl: "/avatar/claw" },
      { avatarUrl: "https://example.com/claw.png" },
      { avatarUrl: agents()["data"] },
      { avatarUrl: null },
      { avatarUrl: null },
      { avatarUrl: null },
      { avatarUrl: null },
    ]);
  });

  test("a picture that is known is not sent again, HEAD sends none, and nothing can be put there", async () => {
    const { headers } = await gateway.ask("/avatar/claw");
    const again = await gateway.ask("/avatar/claw", { headers: { "if-none-match": String(headers["etag"]) } });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    const head = await gateway.ask("/avatar/claw", { method: "HEAD" });
    expect([head.status, head.headers["content-length"], head.bytes.length]).toEqual([200, String(PNG.length), 0]);
    expect((await gateway.ask("/avatar/claw", { method: "PUT", body: "x" })).status).toBe(405);
  });
});

test("below a base path it is there and nowhere else", async () => {
  await using gateway = await start({ basePath: "/claw" });
  expect((await gateway.ask("/claw/avatar/claw")).status).toBe(200);
  expect((await gateway.ask("/claw/avatar/claw?meta=1")).json()).toEqual({ avatarUrl: "/claw/avatar/claw" });
  expect((await gateway.ask("/avatar/claw")).status).toBe(404);
});

test("without the page there are no pictures either", async () => {
  await using gateway = await start({ enabled: false });
  expect((await gateway.ask("/avatar/claw")).status).toBe(404);
});
