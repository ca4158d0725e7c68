/** The shell scripts of bundled skills, against programs and servers that the test plays. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startLoopbackServer } from "../../src/base/loopback-server.fixture.ts";
import { scriptRunner } from "./run-script.ts";

describe("gh-issues", () => {
  test("asks gh for the open issues of a repository, of a label when one is named", async () => {
    const here = scriptRunner({ gh: "echo '12\tnew\t2026-01-01\tbug\tIt breaks'" });
    expect(await here.run("gh-issues/scripts/digest.sh", ["acme/tool"])).toMatchObject({ code: 0, stdout: "12\tnew\t2026-01-01\tbug\tIt breaks\n" });
    await here.run("gh-issues/scripts/digest.sh", ["acme/tool", "60", "help wanted"]);
    const calls = here.calls().filter((line) => line.startsWith("gh "));
    expect(calls[0]).toMatch(/^gh issue list --repo acme\/tool --state open --limit 100 --json number,title,labels,comments,updatedAt --jq /);
    expect(calls[1]).toContain("--label help wanted");
    expect(here.calls().join("\n")).toContain("60 * 86400");
  });

  test("does nothing for what is no repository or no number", async () => {
    const here = scriptRunner({ gh: "exit 0" });
    for (const args of [[], ["tool"], ["acme/tool", "1; rm x"]]) expect(await here.run("gh-issues/scripts/digest.sh", args)).toMatchObject({ code: 2 });
    expect(here.calls()).toEqual([]);
  });

  test("its filter is one that jq understands", async () => {
    const here = scriptRunner({ gh: 'while [ "$1" != --jq ]; do shift; done; jq -r "$2" "$HOME/issues.json"' });
    const issue = (number: number, comments: number, updatedAt: string) => ({
      number,
      title: `t${number}`,
      labels: [{ name: "a" }, { name: "b" }],
      comments: Array.from({ length: comments }),
      updatedAt,
    });
    here.write("issues.json", JSON.stringify([issue(1, 0, "2020-01-01T00:00:00Z"), issue(2, 3, "2020-01-01T00:00:00Z"), issue(3, 1, "2999-01-01T00:00:00Z")]));
    const { stdout } = await here.run("gh-issues/scripts/digest.sh", ["acme/tool"]);
    expect(stdout.split("\n").map((line) => line.split("\t").slice(0, 4).join(" "))).toEqual([
      "1 new 2020-01-01 a,b",
      "2 stale 2020-01-01 a,b",
      "3 active 2999-01-01 a,b",
      "",
    ]);
  });
});

describe("himalaya", () => {
  test("lists unread mail, and what a query finds", async () => {
    const here = scriptRunner({ himalaya: "echo '[]'" });
    expect(await here.run("himalaya/scripts/inbox.sh", ["unread"])).toMatchObject({ code: 0, stdout: "[]\n" });
    await here.run("himalaya/scripts/inbox.sh", ["search", "from ana and subject *", "work", "5"]);
    expect(here.calls()).toEqual([
      "himalaya envelope list --output json --page-size 20 not flag seen order by date desc",
      "himalaya envelope list --output json --account work --page-size 5 from ana and subject * order by date desc",
    ]);
  });

  test("refuses what it does not know", async () => {
    const here = scriptRunner({ himalaya: "exit 0" });
    for (const args of [[], ["delete"], ["search"], ["unread", "", "many"]]) expect((await here.run("himalaya/scripts/inbox.sh", args)).code).toBe(2);
    expect(here.calls()).toEqual([]);
  });
});

describe("weather", () => {
  test("asks for a place, escaped, in the units that are wanted", async () => {
    await using server = await startLoopbackServer((_request, response) => response.end("New York: Sunny, +20°C"));
    const here = scriptRunner();
    const env = { WEATHER_BASE_URL: server.url };
    expect(await here.run("weather/scripts/weather.sh", ["New York"], { env })).toEqual({ code: 0, stdout: "New York: Sunny, +20°C\n", stderr: "" });
    await here.run("weather/scripts/weather.sh", ["São Paulo?x=1#y", "forecast", "u"], { env });
    expect(server.requests.map(({ path }) => Buffer.from(path, "latin1").toString("utf8"))).toEqual([
      expect.stringMatching(/^\/New\+York\?format=.*&m$/),
      expect.stringMatching(/^\/S(?:ã|%c3%a3)o\+Paulox=1y\?T&n&u$/i),
    ]);
  });

  test("a service that fails is a failure", async () => {
    await using server = await startLoopbackServer((_request, response) => response.writeHead(503).end());
    const here = scriptRunner();
    expect((await here.run("weather/scripts/weather.sh", ["Lisbon"], { env: { WEATHER_BASE_URL: server.url } })).code).not.toBe(0);
    for (const args of [[], [""], ["Lisbon", "soon"], ["Lisbon", "now", "k"]]) expect((await here.run("weather/scripts/weather.sh", args)).code).toBe(2);
  });
});

describe("home-assistant", () => {
  test("reads states and calls services, with the token in a header and in no argument", async () => {
    await using server = await startLoopbackServer((request, response) => response.end(request.url === "/api/template" ? "light.kitchen\ton\tKitchen" : "[]"));
    const here = scriptRunner();
    const env = { HASS_URL: `${server.url}/`, HASS_TOKEN: "secret-token" };
    const ha = (...args: string[]) => here.run("home-assistant/scripts/ha.sh", args, { env });
    expect(await ha("states", "light")).toMatchObject({ code: 0, stdout: "light.kitchen\ton\tKitchen\n" });
    expect(await ha("state", "light.kitchen")).toMatchObject({ code: 0 });
    expect(await ha("call", "light.turn_on", '{"entity_id": "light.kitchen"}')).toMatchObject({ code: 0 });
    expect(await ha("call", "scene.reload")).toMatchObject({ code: 0 });
    expect(server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      expect.stringContaining("for s in states.light"),
      "GET /api/states/light.kitchen ",
      'POST /api/services/light/turn_on {"entity_id": "light.kitchen"}',
      "POST /api/services/scene/reload {}",
    ]);
    expect(() => JSON.parse(server.requests[0]!.body)).not.toThrow();
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer secret-token"]));
  });

  test("refuses names that could lead elsewhere, and says what is not set", async () => {
    const here = scriptRunner({ curl: "exit 0" });
    const env = { HASS_URL: "http://127.0.0.1:9", HASS_TOKEN: "t" };
    for (const args of [["state", "../config"], ["call", "light"], ["call", "a/b.c"], ["states", "x%}"], ["erase"], []]) {
      expect((await here.run("home-assistant/scripts/ha.sh", args, { env })).code).toBe(2);
    }
    expect(await here.run("home-assistant/scripts/ha.sh", ["states"])).toMatchObject({ stderr: expect.stringContaining("HASS_URL") });
    expect(here.calls()).toEqual([]);
  });
});

describe("pdf", () => {
  const PROGRAMS = { pdfinfo: "printf 'Title: x\\nPages:          3\\n'", pdftotext: 'echo "text of page $3"' };

  test("prints the text page by page", async () => {
    const here = scriptRunner(PROGRAMS);
    here.write("a file.pdf", "%PDF-1.4");
    expect((await here.run("pdf/scripts/pdf-text.sh", ["a file.pdf"])).stdout).toBe(
      "=== page 1 ===\ntext of page 1\n=== page 2 ===\ntext of page 2\n=== page 3 ===\ntext of page 3\n",
    );
    expect((await here.run("pdf/scripts/pdf-text.sh", ["a file.pdf", "2", "99"])).stdout).toMatch(/^=== page 2[\s\S]*page 3\n$/);
  });

  test("a file that is missing, or has no pages, is an error", async () => {
    const here = scriptRunner({ ...PROGRAMS, pdfinfo: "exit 1" });
    here.write("a.pdf", "no pdf");
    expect(await here.run("pdf/scripts/pdf-text.sh", ["b.pdf"])).toMatchObject({ code: 1, stderr: "b.pdf is not there\n" });
    expect(await here.run("pdf/scripts/pdf-text.sh", ["a.pdf"])).toMatchObject({ code: 1, stderr: expect.stringContaining("no pages") });
    expect((await scriptRunner(PROGRAMS).run("pdf/scripts/pdf-text.sh", [])).code).toBe(2);
  });
});

describe("video-frames", () => {
  const FFMPEG = 'for last; do :; done; case $last in *%04d*) touch "$(dirname "$last")/frame-0001.jpg" ;; *) touch "$last" ;; esac';

  test("takes one frame, one every few seconds, or a sheet", async () => {
    const here = scriptRunner({ ffmpeg: FFMPEG });
    here.write("clip.mp4", "x");
    expect((await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--at", "00:01", "--out", "one.jpg"])).stdout).toBe("one.jpg\n");
    expect((await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--every", "10", "--out", "many"])).stdout).toBe("many/frame-0001.jpg\n");
    expect((await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--sheet", "2x3", "--every", "5", "--out", "sheet.jpg"])).stdout).toBe("sheet.jpg\n");
    expect(here.calls().map((line) => /-ss \S+|fps\S+/.exec(line)?.[0])).toEqual(["-ss 00:01", "fps=1/10", "fps=1/5,scale=320:-2,tile=2x3"]);
  });

  test("never writes over a file", async () => {
    const here = scriptRunner({ ffmpeg: FFMPEG });
    here.write("clip.mp4", "x");
    here.write("one.jpg", "mine");
    expect(await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--at", "1", "--out", "one.jpg"])).toMatchObject({ code: 1 });
    expect((await here.run("video-frames/scripts/frames.sh", ["no.mp4", "--at", "1", "--out", "x.jpg"])).code).toBe(1);
    expect((await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--every", "1,metadata", "--out", "x"])).code).toBe(2);
    expect((await here.run("video-frames/scripts/frames.sh", ["clip.mp4", "--out", "x"])).code).toBe(2);
    expect(here.calls()).toEqual([]);
  });
});

describe("openai-whisper", () => {
  const WHISPER = 'file=$1; while [ "$1" != --output_dir ]; do shift; done; echo "hello" > "$2/$(basename "$file").txt"; echo "$2" > "$HOME/used"';

  test("prints what was said and leaves nothing behind", async () => {
    const here = scriptRunner({ whisper: WHISPER });
    here.write("voice.ogg", "x");
    expect(await here.run("openai-whisper/scripts/transcribe.sh", ["voice.ogg", "--model", "small", "--language", "pt", "--translate"])).toEqual({
      code: 0,
      stdout: "hello\n",
      stderr: "",
    });
    expect(here.calls()[0]).toMatch(/--model small --task translate --output_format txt .*--language pt$/);
    expect(existsSync(readFileSync(join(here.home, "used"), "utf8").trim())).toBe(false);
  });

  test("a failure shows the end of its output", async () => {
    const here = scriptRunner({ whisper: "echo no model here; exit 4" });
    here.write("voice.ogg", "x");
    expect(await here.run("openai-whisper/scripts/transcribe.sh", ["voice.ogg"])).toMatchObject({ code: 1, stderr: "no model here\n", stdout: "" });
    expect((await here.run("openai-whisper/scripts/transcribe.sh", ["none.ogg"])).code).toBe(1);
    expect((await here.run("openai-whisper/scripts/transcribe.sh", ["voice.ogg", "--model"])).code).toBe(2);
  });
});

describe("imagemagick", () => {
  test("uses the version that is there, and never writes over a file", async () => {
    const here = scriptRunner({ magick: 'for last; do :; done; [ "$last" = info: ] || touch "$last"' });
    here.write("a.png", "x");
    expect((await here.run("imagemagick/scripts/image.sh", ["a.png", "b.jpg", "-resize", "10x10>"])).stdout).toBe("b.jpg\n");
    expect((await here.run("imagemagick/scripts/image.sh", ["a.png", "info:"])).code).toBe(0);
    expect(here.calls()).toEqual(["magick ./a.png -resize 10x10> b.jpg", "magick ./a.png info:"]);
    expect((await here.run("imagemagick/scripts/image.sh", ["a.png", "b.jpg"])).code).toBe(1);
  });

  test("refuses what would read or write elsewhere", async () => {
    const here = scriptRunner({ magick: "exit 0" });
    here.write("a.png", "x");
    for (const args of [["a.png", "msl:x.jpg"], ["a.png", "c.jpg", "-write", "d.jpg"], ["a.png", "c.jpg", "@list"], ["a.png"]]) {
      expect((await here.run("imagemagick/scripts/image.sh", args)).code).toBe(2);
    }
    expect(here.calls()).toEqual([]);
  });
});

test("tmux: waits for a line of the pane, and says when it does not come", async () => {
  const here = scriptRunner({
    tmux: 'count=$(cat "$HOME/n" 2>/dev/null || echo 0); echo $((count + 1)) > "$HOME/n"; echo "line $count"; [ "$count" -lt 2 ] || echo ">>> "',
    sleep: "exit 0",
  });
  expect(await here.run("tmux/scripts/wait-for-text.sh", ["work", "^>>> $", "5"])).toMatchObject({ code: 0, stdout: "line 2\n>>> \n" });
  expect(here.calls()[0]).toBe("tmux -L openclaw capture-pane -p -J -t work -S -200");
  expect(await here.run("tmux/scripts/wait-for-text.sh", ["work", "never", "1"])).toMatchObject({ code: 1, stderr: "no line matched: never\n" });
  expect((await here.run("tmux/scripts/wait-for-text.sh", ["work"])).code).toBe(2);
});

test("obsidian: finds vaults and counts their notes", async () => {
  const here = scriptRunner();
  here.write("notes/My vault/.obsidian/app.json", "{}");
  here.write("notes/My vault/a.md", "");
  here.write("notes/My vault/deep/b.md", "");
  here.write("notes/My vault/.trash/gone.md", "");
  here.write("code/node_modules/x/.obsidian/app.json", "{}");
  expect(await here.run("obsidian/scripts/vaults.sh")).toMatchObject({ code: 0, stdout: `${here.home}/notes/My vault\t2 notes\n` });
  expect((await here.run("obsidian/scripts/vaults.sh", ["/no/such/folder"])).code).toBe(1);
});

test("healthcheck: looks at this machine", async () => {
  const { code, stdout } = await scriptRunner().run("healthcheck/scripts/host.sh");
  expect(code).toBe(0);
  for (const part of ["system", "load", "memory", "disks over 80%", "busiest processes"]) expect(stdout).toContain(`== ${part}`);
});
