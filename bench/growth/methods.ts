/**
 * Which of the gateway's methods may take longer the more is stored, and how each of them is asked for the most. A method that is not here does not compile.
 */
import type { MethodName, MethodParams } from "../../src/protocol/index.ts";

/** Parameters of one call; `n` counts the calls, for those that change what they are called with. */
export type Worst<M extends MethodName> = MethodParams<M> | ((n: number) => MethodParams<M>);

/** By what each call asks for. */
export type Asked<M extends MethodName> = Readonly<Record<string, Worst<M>>>;

/** Why a method costs the same whatever is stored, or why it is measured elsewhere. */
const STEADY = {
  configuration: "reads or writes the configuration, which has its own limits",
  connected: "follows what is connected or running now",
  outside: "calls another machine, a program or a model",
  files: "reads or writes one file of a limited size",
  program: "lists what the program and its plugins have",
  one: "reads or writes one row, by its key",
  turn: "starts a turn: measured by the rows of turns, of a long session and of many sessions",
  backup: "works in a process or thread of its own, on all that is stored: its progress is what grows",
} as const;

type Classified = { readonly [M in MethodName]: keyof typeof STEADY | Asked<M> };

const LONG = "agent:main:long";
const HEAVY = "agent:main:heavy";
const FORKED = "agent:main:forked";
const SOME = "agent:main:webchat:direct:3";
const KEYS = Array.from({ length: 64 }, (_, n) => `agent:main:webchat:direct:${n * 3}`);
const SHOWN = { includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true, includeUnknown: true };
/** Sessions of agent main that each call uses one of. */
const nth = (n: number, from: number): string => `agent:main:webchat:direct:${(from + n) * 3}`;

const SYSTEM = {
  health: { "": { probe: true } },
  status: { "": {} },
  "logs.tail": { "most bytes": { limit: 5000, maxBytes: 1_000_000 }, "from the beginning": { cursor: 0, limit: 5000, maxBytes: 1_000_000 } },
  "models.list": "program",
  "models.rests.list": "configuration",
  "models.rests.clear": "configuration",
  "system-presence": "connected",
  "system-event": "connected",
  "last-heartbeat": "connected",
  "hooks.status": "program",
  "set-heartbeats": "connected",
  wake: "turn",
  "update.status": "program",
  "update.check": "outside",
  "update.restart": "outside",
  "update.run": "outside",
  "backup.list": "files",
  "backup.create": "backup",
  "backup.verify": "backup",
  "backup.restore": "backup",
  "backup.read": "files",
  "backup.remove": "files",
  "security.audit": { deep: { deep: true } },
  "security.progress": "connected",
  "security.fix": "files",
  overview: { "": {} },
  // An answer is given again for some seconds.
  "overview.history": { "all hours": (n) => ({ hours: 720 - n }), "two days": (n) => ({ hours: 48 - n }) },
  why: {
    "recent messages": { what: "recent", last: 50 },
    "a session": { what: SOME, last: 50 },
    "a word": { what: "nothing-has-this-id" },
  },
} satisfies Partial<Classified>;

const USAGE = {
  "usage.budgets": { "": {} },
  "usage.status": "outside",
  "usage.cost": { "all days": { days: 3660 } },
  "sessions.usage": { "all days": { startDate: "2020-01-01", limit: 500 }, "one session": { startDate: "2020-01-01", key: LONG } },
  "sessions.usage.timeseries": { "": { key: SOME } },
  "sessions.usage.logs": { "long session": { key: LONG, limit: 1000 }, "long outputs": { key: HEAVY, limit: 1000 } },
} satisfies Partial<Classified>;

const SETTINGS = {
  "config.get": "configuration",
  "config.schema": "program",
  "config.set": "configuration",
  "config.apply": "configuration",
  "config.patch": "configuration",
  "config.check": "configuration",
  "config.edit": "configuration",
  "config.versions": "configuration",
  "config.version": "configuration",
  "config.restore": "configuration",
  "setup.status": { "": {} },
  "setup.key": "configuration",
  "setup.local": "configuration",
  "setup.channel": "configuration",
  "route.explain": "configuration",
  "wizard.start": "configuration",
  "wizard.next": "configuration",
  "wizard.cancel": "configuration",
  "wizard.status": "configuration",
} satisfies Partial<Classified>;

const AGENTS = {
  "agents.list": "configuration",
  "agents.create": "configuration",
  "agents.templates": "program",
  "agents.update": "configuration",
  "agents.delete": { "": (n) => ({ agentId: `spare-${n}`, deleteFiles: true }) },
  "agents.files.list": "files",
  "agents.files.get": "files",
  // A look through a workspace is used again for some seconds, if it is that of the same agent.
  "agents.files.find": {
    "some letters": (n) => ({ agentId: n % 2 === 0 ? "main" : "agent-1", query: `fl${n}`, limit: 100 }),
    nothing: (n) => ({ agentId: n % 2 === 0 ? "main" : "agent-1", query: "qqq", limit: 100 }),
  },
  "agents.files.set": "files",
  "agents.files.versions": "files",
  "agents.files.version": "files",
  "agents.files.restore": "files",
  "agent.identity.get": "configuration",
  "skills.review": "outside",
  "skills.add": "outside",
  "skills.remove": "files",
  "skills.create": "files",
  "skills.file.get": "files",
  "skills.file.set": "files",
  "skills.status": "program",
  "skills.bins": "program",
  "skills.install": "outside",
  "skills.update": "configuration",
  "memory.status": { deep: { deep: true } },
  "memory.search": { "common words": { query: "the mountain near the river", maxResults: 200, explain: true } },
  "memory.index": { "": { agentId: "main" } },
  "memory.notes.list": { "": {} },
  "memory.notes.get": "files",
  "memory.notes.set": "files",
  "memory.notes.delete": "files",
  "memory.notes.restore": "files",
  "memory.forget": { "preview of a rare word": { text: "k3f2", preview: true } },
  "memory.recalls": { "": { limit: 500 } },
} satisfies Partial<Classified>;

const PLUGINS_AND_CHANNELS = {
  "plugins.list": "program",
  "plugins.stats": "program",
  "plugins.reload": "program",
  "plugins.enable": "configuration",
  "plugins.install": "outside",
  "plugins.uninstall": "outside",
  "channels.status": "connected",
  "channels.logout": "outside",
  "channels.start": "outside",
  "channels.stop": "outside",
  "web.login.start": "outside",
  "web.login.wait": "outside",
  send: "outside",
  poll: "outside",
  "message.action": "outside",
  "message.resend": "one",
  "channels.pairing.list": { "": {} },
  "channels.pairing.approve": "one",
  "channels.pairing.owner": "configuration",
  "channels.pairing.reject": "one",
  "channels.pairing.allowed": { "": { channel: "telegram" } },
  "channels.pairing.revoke": "one",
} satisfies Partial<Classified>;

const AUTOMATION = {
  "cron.list": { "": { includeDisabled: true } },
  "cron.status": { "": {} },
  "cron.upcoming": { "a year": { untilMs: Date.now() + 366 * 86_400_000, limit: 2000 } },
  "cron.next": { "": { schedule: { kind: "cron", expr: "0 0 29 2 *" }, count: 100 } },
  "cron.add": {
    "": (n) => ({
      name: `added ${n}`,
      schedule: { kind: "every", everyMs: 86_400_000 },
      sessionTarget: "isolated",
      wakeMode: "next-heartbeat",
      payload: { kind: "agentTurn", message: "hello" },
    }),
  },
  "cron.update": { "": (n) => ({ id: `job-${n.toString(16).padStart(8, "0")}`, patch: { name: `renamed ${n}` } }) },
  "cron.remove": { "": (n) => ({ id: `job-${(40 + n).toString(16).padStart(8, "0")}` }) },
  "cron.run": "turn",
  "cron.runs": { "": { id: "job-00000001", limit: 5000 } },
  "subagents.list": { "all recent": { recentMinutes: 10_080, limit: 500 }, "of a session": { sessionKey: SOME, recentMinutes: 10_080, limit: 500 } },
  "subagents.kill": { "": { sessionKey: "agent:main:subagent:child-00000001" } },
  "subagents.steer": "turn",
} satisfies Partial<Classified>;

const DEVICES_AND_TOOLS = {
  "device.pair.list": { "": {} },
  "device.pair.approve": "one",
  "device.pair.reject": "one",
  "device.pair.remove": "one",
  "device.token.rotate": "one",
  "device.token.revoke": "one",
  "tools.catalog": "program",
  "tools.explain": "program",
  "exec.approvals.get": "configuration",
  "exec.approvals.set": "configuration",
  "exec.approvals.remembered": { "": {} },
  "exec.approvals.forget": "one",
  "exec.approvals.restore": "one",
  "exec.approvals.policy": "configuration",
  "exec.approvals.explain": "configuration",
  "exec.approvals.node.get": "outside",
  "exec.approvals.node.set": "outside",
  "exec.approval.request": "connected",
  "exec.approval.waitDecision": "connected",
  "exec.approval.resolve": "one",
  "exec.approval.history": { "": { limit: 200 } },
  "exec.approval.list": "connected",
} satisfies Partial<Classified>;

const CHAT = {
  "chat.send": "turn",
  "chat.regenerate": "turn",
  "chat.branches": { "many versions": { sessionKey: FORKED, entryId: "00000003" } },
  "chat.branch": { "many versions": (n) => ({ sessionKey: FORKED, entryId: (100 + n).toString(16).padStart(8, "0") }) },
  "chat.history": { "long session": { sessionKey: LONG, limit: 1000 }, "long outputs": { sessionKey: HEAVY, limit: 1000 } },
  "chat.abort": "connected",
  "chat.steer": "connected",
  "chat.inject": { "long session": { sessionKey: LONG, message: "hello" } },
  agent: "turn",
  "agent.wait": "connected",
  "chat.page": {
    newest: { sessionKey: LONG, limit: 200 },
    middle: { sessionKey: LONG, limit: 200, before: 20_000 },
    "long outputs": { sessionKey: HEAVY, limit: 200 },
    "many versions": { sessionKey: FORKED, limit: 200 },
  },
  "chat.search": {
    "all agents": { query: "mountain violin", limit: 100 },
    "one session": { query: "mountain", sessionKey: LONG, limit: 100 },
    "short word": { query: "ri", limit: 100 },
  },
  "chat.image": "one",
  "chat.file": "files",
  "chat.queued": "one",
  "chat.entry": { "long output": { sessionKey: HEAVY, seq: 2 } },
  "chat.watch": { "": { sessionKey: LONG } },
  "commands.list": "program",
  "login.code": "one",
  "prompts.list": { "": {} },
  "prompts.put": "one",
  "prompts.remove": "one",
} satisfies Partial<Classified>;

const SESSIONS = {
  "sessions.list": {
    "": {},
    "with titles": { ...SHOWN, limit: 500, includeFolders: true },
    "from far": { ...SHOWN, limit: 500, offset: 50_000 },
    search: { ...SHOWN, limit: 500, search: "mountain" },
    "short search": { ...SHOWN, limit: 500, search: "ri" },
    "search for nothing": { ...SHOWN, limit: 500, search: "qqqq zzzz" },
    "of an agent": { ...SHOWN, limit: 500, agentId: "agent-1", archived: false, automation: false },
    automation: { ...SHOWN, limit: 500, automation: true },
  },
  "sessions.preview": { "": { keys: KEYS, limit: 50 }, "long outputs": { keys: KEYS.map(() => HEAVY), limit: 50 } },
  "sessions.resolve": { "by id": { sessionId: "00000000-0000-4000-8000-000000000003" } },
  "sessions.patch": { label: (n) => ({ key: nth(n, 10), label: `label ${n}` }) },
  "sessions.reset": { "": (n) => ({ key: nth(n, 100) }), "long outputs": { key: HEAVY } },
  "sessions.delete": { "": (n) => ({ key: nth(n, 200) }) },
  "sessions.restore": "one",
  "sessions.compact": { "long session": (n) => ({ key: LONG, maxLines: 10_000 - 100 * n }) },
  "sessions.pluginPatch": "one",
  "sessions.context": { "long session": { key: LONG }, "long outputs": { key: HEAVY } },
  "sessions.export": {
    jsonl: { key: LONG, format: "jsonl" },
    "json, middle": { key: LONG, format: "json", after: 20_000 * 4096 },
    markdown: { key: LONG, format: "markdown" },
    "html, middle": { key: LONG, format: "html", after: 20_000 * 4096 },
    "long outputs": { key: HEAVY, format: "html" },
  },
} satisfies Partial<Classified>;

const NODES_AND_VOICE = {
  "node.pair.request": "one",
  "node.pair.list": { "": {} },
  "node.pair.approve": "one",
  "node.pair.reject": "one",
  "node.pair.remove": "one",
  "node.pair.verify": "one",
  "node.list": { "": {} },
  "node.describe": "connected",
  "node.invokes": "connected",
  "node.invoke": "outside",
  "node.invoke.result": "connected",
  "node.invoke.progress": "connected",
  "node.invoke.cancel": "connected",
  "node.event": "connected",
  "node.rename": "one",
  "push.test": "outside",
  "canvas.attach": "connected",
  "canvas.result": "connected",
  "canvas.action": "turn",
  "canvas.invoke": "outside",
  "talk.config": "configuration",
  "talk.mode": "connected",
  "talk.ready": "configuration",
  "talk.transcribe": "outside",
  "talk.speak": "outside",
  "voicewake.get": "configuration",
  "voicewake.set": "configuration",
  "tts.status": "configuration",
  "tts.providers": "program",
  "tts.enable": "configuration",
  "tts.disable": "configuration",
  "tts.setProvider": "configuration",
  "tts.convert": "outside",
  "browser.request": "outside",
} satisfies Partial<Classified>;

/** Every method of the protocol. */
export const METHODS_BY_GROWTH: Classified = {
  ...SYSTEM,
  ...USAGE,
  ...SETTINGS,
  ...AGENTS,
  ...PLUGINS_AND_CHANNELS,
  ...AUTOMATION,
  ...DEVICES_AND_TOOLS,
  ...CHAT,
  ...SESSIONS,
  ...NODES_AND_VOICE,
};

export interface WorstCall {
  /** `sessions.list, from far`. */
  readonly name: string;
  readonly method: string;
  readonly params: (n: number) => object;
}

/** Every call that is measured. Those that only read come first, since the others change what is read. */
export function worstCalls(isEffect: (method: MethodName) => boolean): readonly WorstCall[] {
  const calls = Object.entries(METHODS_BY_GROWTH).flatMap(([method, asked]) =>
    typeof asked === "string"
      ? []
      : Object.entries(asked as Readonly<Record<string, object | ((n: number) => object)>>).map(([what, params]): WorstCall => ({
          name: what === "" ? method : `${method}, ${what}`,
          method,
          params: typeof params === "function" ? (params as (n: number) => object) : () => params,
        })),
  );
  const changes = ({ method }: WorstCall): number => Number(isEffect(method as MethodName));
  return calls.sort((a, b) => changes(a) - changes(b));
}
