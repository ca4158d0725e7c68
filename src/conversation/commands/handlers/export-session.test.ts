import { mkdtemp, readFile, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { setup } from "../commands.fixture.ts";

describe("/export-session", () => {
  async function workspace(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "export-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    return folder;
  }
  function exporting(folder: string, home?: string) {
    const session = setup();
    const transcript = () =>
      Promise.resolve({
        sessionId: "0123456789abcdef",
        entries: [
          { type: "message", timestamp: "2026-11-15T11:00:00Z", message: { role: "user", content: "<script>alert(1)</script> sk-secret" } },
          { type: "message", message: { role: "assistant", content: [{ type: "text", text: "Hi" }] } },
          { type: "message", message: { role: "assistant", content: [{ type: "text", text: "rewritten-away" }], openclawShown: "as-shown" } },
          { type: "message", message: { role: "assistant", content: [{ type: "text", text: "withheld" }], openclawShown: "" } },
        ],
        systemPrompt: "Be kind.",
        tools: [{ name: "read", description: "reads" }],
      });
    const read = () => Promise.resolve(session.entry());
    const never = () => Promise.reject(new Error("not here"));
    return setup({
      ports: { workspace: () => folder, ...(home === undefined ? {} : { home }), session: { transcript, read, patch: never, reset: never, compact: never } },
    });
  }

  test("writes a page without script or secrets, by a name of its own", async () => {
    const folder = await workspace();
    const text = await exporting(folder).say("/export");
    expect(text).toContain("Entries: 3 · System prompt: 8 chars · Tools: 1");
    const [name] = await readdir(folder);
    expect(name).toBe("openclaw-session-01234567-2026-11-15T12-00-00.html");
    const page = await readFile(join(folder, name!), "utf8");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt; ***");
    expect(page).not.toContain("<script>");
    expect(page).toContain("as-shown");
    expect(page).not.toMatch(/rewritten-away|withheld/);
  });

  test("takes a path inside, makes folders and never replaces what is no page", async () => {
    const folder = await workspace();
    await exporting(folder).say("/export-session notes/AGENTS.md");
    expect(await readdir(join(folder, "notes"))).toEqual(["AGENTS.md.html"]);
    expect(await exporting(folder, folder).say("/export ~/mine.html")).toContain("Written:");
  });

  test.each(["../out.html", "/etc/out.html", "~/out.html", "a/../../out.html", "~root/x.html"])("refuses %s", async (path) => {
    const folder = await workspace();
    expect(await exporting(folder).say(`/export ${path}`)).toContain("only be exported to the workspace");
    expect(await readdir(folder)).toEqual([]);
  });

  test("refuses a link that leads outside", async () => {
    const [folder, outside] = [await workspace(), await workspace()];
    await symlink(outside, join(folder, "link"));
    expect(await exporting(folder).say("/export link/x.html")).toContain("only be exported to the workspace");
    expect(await readdir(outside)).toEqual([]);
  });
});
