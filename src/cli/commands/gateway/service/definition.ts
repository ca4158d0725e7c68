import { join, win32 } from "node:path";

/** Everything that goes into a service file. */
export interface ServiceFacts {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly stateDir: string;
  readonly configPath: string;
  /** Undefined for the default one. */
  readonly profile: string | undefined;
  readonly port: number;
  /** Only when it is to be in the file; otherwise the configuration has it. */
  readonly token?: string | undefined;
  readonly version: string;
  /** The runtime and what it runs: absolute paths. */
  readonly program: { readonly node: string; readonly entry: string };
  readonly temporary: string;
  readonly uid: number;
  /** It is a node of a gateway: what follows `openclaw` on its command line. Without it, it is a gateway. */
  readonly node?: readonly string[] | undefined;
}

type Line = readonly [command: string, ...args: string[]];

/** A service of this platform: its file, and the commands that make the platform know it. */
export interface ServiceDefinition {
  readonly kind: "systemd" | "launchd" | "schtasks";
  readonly label: string;
  readonly file: string;
  readonly content: string;
  /** How its file names the state folder that it runs on. */
  readonly stateMark: string;
  /** For others to read unless there is a secret in it. */
  readonly mode: 0o600 | 0o644;
  readonly load: readonly Line[];
  readonly unload: readonly Line[];
  /** After the file is gone. */
  readonly forget: readonly Line[];
  readonly start: readonly Line[];
  readonly stop: readonly Line[];
  readonly restart: readonly Line[];
  readonly show: Line;
  /** What the user may want to do besides. */
  readonly hint?: string;
}

export type ServiceCommand = Line;

const nameOf = ({ profile }: ServiceFacts): string | undefined => (profile && profile.toLowerCase() !== "default" ? profile : undefined);

const kindOf = ({ node }: ServiceFacts): "gateway" | "node" => (node ? "node" : "gateway");
const titleOf = (facts: ServiceFacts): string => (facts.node ? "OpenClaw Node" : "OpenClaw Gateway");

/** The service's own environment: small, and independent of who starts it. */
function environment(facts: ServiceFacts, label: string): readonly (readonly [string, string])[] {
  const bin = join(facts.program.node, "..");
  const path = [...new Set([bin, "/usr/local/bin", "/usr/bin", "/bin"])].join(":");
  const profile = nameOf(facts);
  return [
    ["HOME", facts.home],
    ["TMPDIR", facts.temporary],
    ["PATH", path],
    ...(profile === undefined ? [] : ([["OPENCLAW_PROFILE", profile]] as const)),
    ["OPENCLAW_STATE_DIR", facts.stateDir],
    ["OPENCLAW_CONFIG_PATH", facts.configPath],
    ...(facts.node ? [] : ([["OPENCLAW_GATEWAY_PORT", String(facts.port)]] as const)),
    ...(facts.token === undefined ? [] : ([["OPENCLAW_GATEWAY_TOKEN", facts.token]] as const)),
    [facts.platform === "darwin" ? "OPENCLAW_LAUNCHD_LABEL" : "OPENCLAW_SYSTEMD_UNIT", label],
    ["OPENCLAW_SERVICE_MARKER", "openclaw"],
    ["OPENCLAW_SERVICE_KIND", kindOf(facts)],
    ["OPENCLAW_SERVICE_VERSION", facts.version],
  ];
}

const commandLine = ({ program, port, node }: ServiceFacts): readonly string[] => [
  program.node,
  program.entry,
  ...(node ?? ["gateway", "--port", String(port)]),
];

/** A word as systemd reads it: quoted, and without its specifiers. */
const unitWord = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;

function systemdUnit(facts: ServiceFacts, label: string): string {
  // In a command line a dollar sign would be a variable.
  const words = commandLine(facts).map((word) => (/^[\w@+=:,./-]+$/.test(word) ? word : unitWord(word.replaceAll("$", "$$$$"))));
  const profile = nameOf(facts);
  return [
    "[Unit]",
    `Description=${titleOf(facts)} (${profile === undefined ? "" : `profile ${profile}, `}v${facts.version})`,
    "After=network-online.target",
    "Wants=network-online.target",
    "",
    "[Service]",
    `ExecStart=${words.join(" ")}`,
    "Restart=always",
    "RestartSec=5",
    "KillMode=process",
    `WorkingDirectory=${facts.home.replaceAll("%", "%%")}`,
    ...environment(facts, label).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`),
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function launchdPlist(facts: ServiceFacts, label: string): string {
  const text = (value: string): string => `<string>${xml(value)}</string>`;
  const key = (name: string, value: string): string => `    <key>${xml(name)}</key>\n    ${value}`;
  const log = (name: string): string => text(join(facts.stateDir, "logs", name));
  const block = (tag: "array" | "dict", lines: readonly string[]): string => `<${tag}>\n${lines.map((line) => `      ${line}`).join("\n")}\n    </${tag}>`;
  const variables = environment(facts, label).flatMap(([name, value]) => [`<key>${name}</key>`, text(value)]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "  <dict>",
    key("Label", text(label)),
    key("Comment", text(`${titleOf(facts)} (v${facts.version})`)),
    key("RunAtLoad", "<true/>"),
    key("KeepAlive", "<true/>"),
    key("ProgramArguments", block("array", commandLine(facts).map(text))),
    key("WorkingDirectory", text(facts.home)),
    key("StandardOutPath", log(`${kindOf(facts)}.log`)),
    key("StandardErrorPath", log(`${kindOf(facts)}.err.log`)),
    key("EnvironmentVariables", block("dict", variables)),
    "  </dict>",
    "</plist>",
    "",
  ].join("\n");
}

function systemd(facts: ServiceFacts): ServiceDefinition {
  const profile = nameOf(facts);
  const label = `openclaw-${kindOf(facts)}${profile === undefined ? "" : `-${profile}`}.service`;
  const control = (...args: string[]): Line => ["systemctl", "--user", ...args];
  return {
    kind: "systemd",
    label,
    file: join(facts.home, ".config", "systemd", "user", label),
    content: systemdUnit(facts, label),
    stateMark: unitWord(`OPENCLAW_STATE_DIR=${facts.stateDir}`),
    mode: facts.token === undefined ? 0o644 : 0o600,
    load: [control("daemon-reload"), control("enable", "--now", label)],
    unload: [control("disable", "--now", label)],
    forget: [control("daemon-reload")],
    start: [control("start", label)],
    stop: [control("stop", label)],
    restart: [control("restart", label)],
    show: control("show", label, "--property=LoadState,ActiveState,SubState,MainPID,ExecMainStatus"),
    hint: "To keep it running while you are logged out: loginctl enable-linger",
  };
}

function launchd(facts: ServiceFacts): ServiceDefinition {
  const own = nameOf(facts);
  const label = facts.node ? `ai.openclaw.node${own === undefined ? "" : `.${own}`}` : `ai.openclaw.${own ?? "gateway"}`;
  const domain = `gui/${facts.uid}`;
  const file = join(facts.home, "Library", "LaunchAgents", `${label}.plist`);
  const bootstrap: Line = ["launchctl", "bootstrap", domain, file];
  const bootout: Line = ["launchctl", "bootout", `${domain}/${label}`];
  return {
    kind: "launchd",
    label,
    file,
    content: launchdPlist(facts, label),
    stateMark: `<string>${xml(facts.stateDir)}</string>`,
    mode: facts.token === undefined ? 0o644 : 0o600,
    load: [bootstrap],
    unload: [bootout],
    forget: [],
    start: [bootstrap],
    // It is kept alive: only unloading ends it.
    stop: [bootout],
    restart: [["launchctl", "kickstart", "-k", `${domain}/${label}`]],
    show: ["launchctl", "print", `${domain}/${label}`],
  };
}

/** A value in a command file: a percent sign would be a variable, and a quotation mark would end it. */
const cmdValue = (text: string): string => text.replaceAll("%", "%%").replaceAll('"', "");

/** Lines end as Windows wants them. */
function cmdFile(facts: ServiceFacts, label: string): string {
  const profile = nameOf(facts);
  const variables: readonly (readonly [string, string])[] = [
    ...(profile === undefined ? [] : ([["OPENCLAW_PROFILE", profile]] as const)),
    ["OPENCLAW_STATE_DIR", facts.stateDir],
    ["OPENCLAW_CONFIG_PATH", facts.configPath],
    ...(facts.node ? [] : ([["OPENCLAW_GATEWAY_PORT", String(facts.port)]] as const)),
    ...(facts.token === undefined ? [] : ([["OPENCLAW_GATEWAY_TOKEN", facts.token]] as const)),
    ["OPENCLAW_TASK_NAME", label],
    ["OPENCLAW_SERVICE_MARKER", "openclaw"],
    ["OPENCLAW_SERVICE_KIND", kindOf(facts)],
    ["OPENCLAW_SERVICE_VERSION", facts.version],
  ];
  const lines = [
    `rem ${titleOf(facts)} (v${facts.version})`,
    `cd /d "${cmdValue(facts.home)}"`,
    ...variables.map(([name, value]) => `set "${name}=${cmdValue(value)}"`),
    commandLine(facts)
      .map((word) => `"${cmdValue(word)}"`)
      .join(" "),
    "",
  ];
  // The file is UTF-8; without this, names of folders are read in the code page of the console.
  const encoding = lines.some((line) => /[^\x20-\x7e]/.test(line)) ? ["chcp 65001 >nul"] : [];
  return ["@echo off", ...encoding, ...lines].join("\r\n");
}

/** A task that begins when its user logs on. */
function schtasks(facts: ServiceFacts): ServiceDefinition {
  const profile = nameOf(facts);
  const label = `${titleOf(facts)}${profile === undefined ? "" : ` (${profile})`}`;
  const file = win32.join(facts.stateDir, `${kindOf(facts)}.cmd`);
  const task = (action: string, ...args: string[]): Line => ["schtasks", action, "/TN", label, ...args];
  return {
    kind: "schtasks",
    label,
    file,
    content: cmdFile(facts, label),
    stateMark: `set "OPENCLAW_STATE_DIR=${cmdValue(facts.stateDir)}"`,
    mode: facts.token === undefined ? 0o644 : 0o600,
    load: [task("/Create", "/TR", `"${file}"`, "/SC", "ONLOGON", "/RL", "LIMITED", "/F"), task("/Run")],
    unload: [task("/End")],
    forget: [task("/Delete", "/F")],
    start: [task("/Run")],
    stop: [task("/End")],
    restart: [task("/End"), task("/Run")],
    show: task("/Query", "/FO", "LIST", "/V"),
  };
}

/** The gateway as a service of this platform; undefined where there is none. */
export function describeService(facts: ServiceFacts): ServiceDefinition | undefined {
  if (facts.platform === "linux") return systemd(facts);
  if (facts.platform === "win32") return schtasks(facts);
  return facts.platform === "darwin" ? launchd(facts) : undefined;
}
