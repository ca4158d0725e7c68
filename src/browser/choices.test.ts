import { describe, expect, test } from "vitest";
import { chooseBrowser, detectBrowser } from "./find-browser.ts";
import { browserSettings, profileNamed } from "./settings.ts";
import { showDiff } from "./snapshot/diff.ts";
import { parseLines, showOutline } from "./snapshot/outline.ts";

const having = (...paths: readonly string[]) => ({ isProgram: (path: string) => paths.includes(path) });
const LINUX = { platform: "linux", env: { PATH: "/opt/tools:/usr/bin" }, home: "/home/ada" } as const;

describe("which browser is started", () => {
  test.each([
    [LINUX, "/usr/bin/chromium", "chromium"],
    [LINUX, "/opt/tools/brave", "brave"],
    [{ ...LINUX, platform: "darwin" }, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "chrome"],
    [{ ...LINUX, platform: "darwin" }, "/home/ada/Applications/Chromium.app/Contents/MacOS/Chromium", "chromium"],
    [{ ...LINUX, platform: "win32", env: { PROGRAMFILES: "C:\\Program Files" } }, "C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe", "edge"],
  ] as const)("one that is installed is found %#", (facts, path, kind) => {
    expect(detectBrowser({ ...facts, ...having(path) })).toEqual({ kind, path });
  });

  test("the configured one goes first, and a missing one is said with what to do", () => {
    expect(chooseBrowser("/opt/mine", { ...LINUX, ...having("/opt/mine", "/usr/bin/chromium") })).toEqual({ kind: "custom", path: "/opt/mine" });
    expect(() => chooseBrowser("/opt/gone", { ...LINUX, ...having("/usr/bin/chromium") })).toThrow(/browser\.executablePath is \/opt\/gone/);
    expect(() => chooseBrowser(undefined, { ...LINUX, ...having() })).toThrow(/no browser was found: install Chromium.*browser\.executablePath/);
  });
});

describe("settings", () => {
  const facts = { stateDir: "/state", env: {}, platform: "linux", isRoot: false } as const;

  test("without any, there is an isolated profile, without windows where there is no screen", () => {
    const settings = browserSettings({ ...facts, config: {} });
    expect(settings).toMatchObject({ enabled: true, evaluateEnabled: true, headless: true, noSandbox: false, defaultProfile: "openclaw", connectMs: 3000 });
    expect(profileNamed(settings, undefined)).toMatchObject({ name: "openclaw", kind: "own", userDataDir: "/state/browser/openclaw/user-data" });
    expect(browserSettings({ ...facts, config: {}, env: { DISPLAY: ":0" }, isRoot: true })).toMatchObject({ headless: false, noSandbox: true });
  });

  test("a profile with an address is one that runs elsewhere; the extension's is none of ours", () => {
    const profiles = {
      own: { color: "#00AA00", cdpUrl: "http://127.0.0.1:9222" },
      shared: { color: "#00AA00", cdpPort: 18_801, driver: "extension" as const },
    };
    const settings = browserSettings({ ...facts, config: { browser: { profiles } } });
    expect(settings.profiles.map(({ name, kind }) => [name, kind])).toEqual([
      ["openclaw", "own"],
      ["own", "attached"],
      ["shared", "relay"],
      ["chrome", "relay"],
    ]);
    expect(() => profileNamed(settings, "work")).toThrow('there is no browser profile "work"; there are: openclaw, own, shared, chrome');
  });
});

describe("outlines", () => {
  const lines = parseLines(
    ['0\t\theading "Shop" [level=1]', "0\t\tlist", "1\t\tlistitem", '2\t7\tlink "Lamp"', '0\t8\ttextbox "Find" [focused]: x'].join("\n"),
  );

  test("refs stand behind names, and containers go when the page is cut", () => {
    expect(showOutline(lines, { maxChars: 1000 }).text).toBe(
      '- heading "Shop" [level=1]\n- list\n  - listitem\n    - link "Lamp" [e7]\n- textbox "Find" [e8] [focused]: x',
    );
    expect(showOutline(lines, { maxChars: 1000, compact: true }).text).toContain('\n- link "Lamp" [e7]\n');
    expect(showOutline(lines, { maxChars: 40 })).toMatchObject({ truncated: true, note: expect.stringMatching(/lines .*left out/) });
  });

  test("a difference shows what is new, what changed and what is gone", () => {
    const after = parseLines(['0\t\theading "Shop" [level=1]', '0\t8\ttextbox "Find": lamp', '0\t9\tbutton "Buy"'].join("\n"));
    expect(showDiff(lines, after, 1000).text).toBe('~ textbox "Find" [e8]: lamp\n+ button "Buy" [e9]\n- link "Lamp" [e7]');
    expect(showDiff(lines, lines, 1000).isSame).toBe(true);
    expect(showDiff(lines, after, 30).text).toContain("more changed lines; take a snapshot");
  });
});
