import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { AppError } from "../base/errors.ts";

export type BrowserKind = "chrome" | "chromium" | "brave" | "edge" | "custom";

export interface FoundBrowser {
  readonly kind: BrowserKind;
  readonly path: string;
}

export interface FindFacts {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly isProgram?: (path: string) => boolean;
}

/** Names on PATH, the most common first. */
const NAMES: readonly (readonly [BrowserKind, readonly string[]])[] = [
  ["chrome", ["google-chrome", "google-chrome-stable", "chrome"]],
  ["brave", ["brave-browser", "brave-browser-stable", "brave"]],
  ["edge", ["microsoft-edge", "microsoft-edge-stable", "msedge"]],
  ["chromium", ["chromium", "chromium-browser", "chromium-headless-shell"]],
];

const LINUX: readonly (readonly [BrowserKind, string])[] = [
  ["chrome", "/usr/bin/google-chrome"],
  ["chrome", "/opt/google/chrome/chrome"],
  ["brave", "/usr/bin/brave-browser"],
  ["brave", "/opt/brave.com/brave/brave"],
  ["edge", "/usr/bin/microsoft-edge"],
  ["edge", "/opt/microsoft/msedge/msedge"],
  ["chromium", "/usr/bin/chromium"],
  ["chromium", "/usr/bin/chromium-browser"],
  ["chromium", "/snap/bin/chromium"],
  ["chromium", "/var/lib/flatpak/exports/bin/org.chromium.Chromium"],
  ["chromium", "/usr/bin/chromium-headless-shell"],
];

const MAC: readonly (readonly [BrowserKind, string])[] = [
  ["chrome", "Google Chrome"],
  ["brave", "Brave Browser"],
  ["edge", "Microsoft Edge"],
  ["chromium", "Chromium"],
];

const WINDOWS: readonly (readonly [BrowserKind, string])[] = [
  ["chrome", "Google\\Chrome\\Application\\chrome.exe"],
  ["brave", "BraveSoftware\\Brave-Browser\\Application\\brave.exe"],
  ["edge", "Microsoft\\Edge\\Application\\msedge.exe"],
  ["chromium", "Chromium\\Application\\chrome.exe"],
];

function isProgramFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function knownPlaces({ platform, env, home }: FindFacts): readonly (readonly [BrowserKind, string])[] {
  if (platform === "darwin") {
    return MAC.flatMap(([kind, name]) => ["", home].map((folder) => [kind, `${folder}/Applications/${name}.app/Contents/MacOS/${name}`] as const));
  }
  if (platform === "win32") {
    const folders = [env["PROGRAMFILES"], env["PROGRAMFILES(X86)"], env["LOCALAPPDATA"]].filter((folder) => folder !== undefined && folder !== "");
    return WINDOWS.flatMap(([kind, rest]) => folders.map((folder) => [kind, `${folder}\\${rest}`] as const));
  }
  return LINUX;
}

function onPath({ platform, env }: FindFacts): readonly (readonly [BrowserKind, string])[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const ending = platform === "win32" ? ".exe" : "";
  return NAMES.flatMap(([kind, names]) => names.flatMap((name) => folders.map((folder) => [kind, join(folder, `${name}${ending}`)] as const)));
}

/** The first browser that is installed in a known place, then on PATH. */
export function detectBrowser(facts: FindFacts): FoundBrowser | undefined {
  const isProgram = facts.isProgram ?? isProgramFile;
  const found = [...knownPlaces(facts), ...onPath(facts)].find(([, path]) => isProgram(path));
  return found && { kind: found[0], path: found[1] };
}

const INSTALL: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "install Chromium or Google Chrome (Debian: apt-get install chromium)",
  darwin: "install Google Chrome or Chromium (brew install --cask google-chrome)",
  win32: "install Google Chrome, or use the Microsoft Edge that comes with Windows",
};

/** What to do where no browser is installed. */
export const installAdvice = (platform: NodeJS.Platform): string => INSTALL[platform] ?? "install Chromium or Google Chrome";

/** The browser to start: the configured one, else the first that is installed. */
export function chooseBrowser(executablePath: string | undefined, facts: FindFacts): FoundBrowser {
  if (executablePath !== undefined) {
    if ((facts.isProgram ?? isProgramFile)(executablePath)) return { kind: "custom", path: executablePath };
    throw new AppError(
      "NOT_FOUND",
      `browser.executablePath is ${executablePath}, which is not a program on this machine; set it to the browser's program, or remove it`,
    );
  }
  const found = detectBrowser(facts);
  if (found) return found;
  throw new AppError("NOT_FOUND", `no browser was found: ${installAdvice(facts.platform)}, or set browser.executablePath to a Chromium-based browser`);
}
