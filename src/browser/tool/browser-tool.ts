import { AppError, messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import {
  BROWSER,
  createMarkUntrusted,
  defineTool,
  failedOutcome,
  jsonOutcome,
  textOutcome,
  type MarkUntrusted,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from "../../tools/index.ts";
import type { PageAnswer } from "../answers.ts";
import type { Caller } from "../create-browser.ts";
import type { Picture } from "../files.ts";
import { required, textIn, type Params } from "../params.ts";
import { RELAY_PROFILE } from "../settings.ts";
import type { ToolBrowser } from "./tool-browser.ts";

/** Where a call is carried out. */
export interface BrowserTarget {
  readonly target?: "host" | "node" | "sandbox" | undefined;
  /** Id, name or address of a node. */
  readonly node?: string | undefined;
  readonly profile?: string | undefined;
}

export interface BrowserToolDeps {
  /** The browser that a call means; throws when there is none. */
  readonly choose: (target: BrowserTarget, context: ToolContext) => Promise<ToolBrowser>;
  readonly ids: Pick<Ids, "hex">;
  /** A session's tools work inside of a sandbox; `inside`: that has a browser; `hostAllowed`: its agent may use the browser of this machine all the same. */
  readonly sandbox: (context: ToolContext) => Promise<{ readonly sandboxed: boolean; readonly hostAllowed: boolean; readonly inside?: boolean }>;
}

const ACTIONS = [
  "status",
  "start",
  "stop",
  "profiles",
  "tabs",
  "open",
  "focus",
  "close",
  "snapshot",
  "screenshot",
  "navigate",
  "console",
  "pdf",
  "upload",
  "dialog",
  "act",
] as const;
type Action = (typeof ACTIONS)[number];

const DESCRIPTION = `Drive a web browser. open and navigate (targetUrl) show the page as an outline; [e12] is the ref of an element. act takes request: click{ref}, type{ref,text,submit}, fill{fields:[{ref,value}],submit}, select{ref,values}, press{key}, hover{ref}, drag{startRef,endRef}, wait{text|textGone|selector|url|loadState|timeMs}, evaluate{fn,ref}, resize{width,height}, close; click also doubleClick, button, modifiers. The answer is what changed (+ new, ~ changed, - gone), so snapshot (selector, frame, interactive, depth for a part) is rarely needed. Refs last as long as their element. upload (paths) comes before the click that opens the chooser, dialog (accept, promptText) before the dialog.`;

const MAX_RESULT_CHARS = 8000;

interface Use {
  readonly browser: ToolBrowser;
  readonly mark: MarkUntrusted;
  readonly caller: Caller;
  readonly params: Params;
}

const SOURCE = { source: "browser" } as const;

const HEADS: Readonly<Record<PageAnswer["shows"], string>> = {
  snapshot: "Page:",
  diff: "Changed:",
  same: "Nothing visible changed.",
  none: "",
};

/** Lets later answers about the tab take the place of this one in the model's context. What happened besides, such as a download, is reported only once. */
function pageMark({ browser, caller, params }: Use, { targetId, shows, events, result }: Pick<PageAnswer, "targetId" | "shows" | "events" | "result">): object {
  if (events.length > 0 || result !== undefined) return {};
  const isPart = ["selector", "frame", "depth", "limit"].some((name) => params[name] !== undefined);
  return { page: { key: `${browser.keyOf(caller)}:${targetId}`, whole: shows === "snapshot" && !isPart } };
}

/** Everything that a page wrote stands between the marks, its address and title as well. */
function pageOutcome(use: Use, answer: PageAnswer): ToolOutcome {
  const { mark } = use;
  const { targetId, shows, text, note, url, title, events, result, ...rest } = answer;
  const isWhole = shows === "snapshot";
  const shown = result === undefined ? undefined : JSON.stringify(result, null, 1);
  const lines = [
    ...(url === "" ? [] : [`url: ${url.slice(0, 300)}`]),
    ...(title && isWhole ? [`title: ${title}`] : []),
    ...events.map((event) => `event: ${event}`),
    ...(shown === undefined
      ? []
      : [`result: ${shown.length > MAX_RESULT_CHARS ? `${shown.slice(0, MAX_RESULT_CHARS)}… (${shown.length} characters)` : shown}`]),
    ...(HEADS[shows] === "" ? [] : [HEADS[shows]]),
    ...(text === "" ? [] : [text]),
  ];
  const head = [`tab ${targetId}`, ...(note === undefined ? [] : [note])].join("; ");
  const body = lines.length === 0 ? "" : `\n${mark(lines.join("\n"), { ...SOURCE, notice: isWhole })}`;
  return textOutcome(`${head}${body}`, { ...rest, targetId, url, shows, events, format: "ai", ...pageMark(use, answer) });
}

const pictureOutcome = (text: string, { path, data, mimeType }: Picture): ToolOutcome => ({
  content: [
    { type: "text", text: `${text}\nMEDIA:${path}` },
    { type: "image", data, mimeType },
  ],
  details: { path, mimeType },
  isError: false,
});

const marked = ({ mark }: Use, value: unknown, details: object): ToolOutcome => textOutcome(mark(JSON.stringify(value, null, 1), SOURCE), details);

/** About the browser itself. */
const factsOutcome = (use: Use, facts: unknown): ToolOutcome => (use.browser.isForeign ? marked(use, facts, {}) : jsonOutcome(facts));

const HANDLERS: Readonly<Record<Action, (use: Use) => Promise<ToolOutcome>>> = {
  status: async (use) => factsOutcome(use, await use.browser.status(use)),
  start: async (use) => factsOutcome(use, await use.browser.start(use)),
  stop: async (use) => factsOutcome(use, await use.browser.stop(use)),
  profiles: async (use) => factsOutcome(use, await use.browser.profiles(use)),
  async tabs(use) {
    const tabs = await use.browser.tabs(use);
    return marked(use, { tabs }, { tabCount: tabs.length });
  },
  open: async (use) => pageOutcome(use, await use.browser.open(use)),
  navigate: async (use) => pageOutcome(use, await use.browser.navigate(use)),
  focus: async (use) => factsOutcome(use, await use.browser.focus(use)),
  close: async (use) => factsOutcome(use, await use.browser.close(use)),
  async snapshot(use) {
    const { picture, nodes, ...answer } = await use.browser.snapshot(use);
    const { url, targetId } = answer;
    if (nodes) return marked(use, { url, nodes }, { ok: true, format: "aria", targetId, url, ...pageMark(use, answer) });
    const outcome = pageOutcome(use, answer);
    if (!picture) return outcome;
    const { content } = pictureOutcome("With the refs beside their elements:", picture);
    return { ...outcome, content: [...outcome.content, ...content] };
  },
  async screenshot(use) {
    const { targetId, ...picture } = await use.browser.screenshot(use);
    return pictureOutcome(`tab ${targetId}`, picture);
  },
  async console(use) {
    const { targetId, messages } = await use.browser.console(use);
    return marked(use, { messages }, { targetId, messageCount: messages.length });
  },
  async pdf(use) {
    const { path, targetId } = await use.browser.pdf(use);
    return textOutcome(`FILE:${path}`, { path, targetId });
  },
  upload: async (use) => pageOutcome(use, await use.browser.upload(use)),
  dialog: async (use) => factsOutcome(use, await use.browser.dialog(use)),
  async act(use) {
    const { request } = use.params;
    if (!isRecord(request)) throw new AppError("INVALID_INPUT", "request required: {kind, …}");
    return pageOutcome(use, await use.browser.act({ ...use, params: { targetId: use.params["targetId"], ...request } }));
  },
};

/** Where the browser is to be, as far as the session's sandbox allows it. */
async function targetOf({ sandbox }: BrowserToolDeps, { params, context }: Pick<ToolCall, "params" | "context">): Promise<BrowserTarget> {
  const [written, node] = [textIn(params, "target"), textIn(params, "node")];
  if (written !== undefined && written !== "host" && written !== "sandbox" && written !== "node")
    throw new AppError("INVALID_INPUT", `target must be host, sandbox or node, not "${written.slice(0, 40)}"`);
  if (written === "host" && node !== undefined) throw new AppError("INVALID_INPUT", 'node requires target "node", not "host"');
  const profile = textIn(params, "profile");
  if (profile?.includes(":") === true) throw new AppError("INVALID_INPUT", `"${profile.slice(0, 80)}" is not a profile name`);
  const { sandboxed, hostAllowed, inside } = await sandbox(context);
  if (written === "sandbox" && !sandboxed) throw new AppError("INVALID_INPUT", "this session is not sandboxed: leave target out");
  const isElsewhere = written === "host" || written === "node" || node !== undefined || profile === RELAY_PROFILE;
  if (sandboxed && (written === "sandbox" || (inside === true && !isElsewhere))) return { target: "sandbox" };
  if (sandboxed && !hostAllowed) {
    const other = inside === true ? "omit target, node and profile to use the one inside; " : "";
    throw new AppError(
      "UNAVAILABLE",
      `this session is sandboxed and may not use the browser of this machine or of a node: ${other}the owner can allow it with agents.defaults.sandbox.browser.allowHostControl`,
    );
  }
  return { target: node === undefined ? written : "node", node, profile };
}

/** What the owner is asked before a call opens a page outside of the allowed hosts. */
async function hostToAllow(
  deps: BrowserToolDeps,
  call: Pick<ToolCall, "params" | "context">,
): Promise<{ readonly browser: ToolBrowser; readonly host: string } | undefined> {
  const [action, url] = [textIn(call.params, "action"), textIn(call.params, "targetUrl")];
  if ((action !== "open" && action !== "navigate") || url === undefined) return undefined;
  const browser = await deps.choose(await targetOf(deps, call), call.context);
  const host = browser.consent?.unlistedHost(call.context.sessionKey, url);
  return host === undefined ? undefined : { browser, host };
}

const string = { type: "string" } as const;
const number = { type: "number" } as const;
const flag = { type: "boolean" } as const;
const strings = { type: "array", items: string } as const;

/** What most calls need. Everything else that the routes take is taken here as well: the description and the errors name it, and every request pays for what stands here. */
const REQUEST = {
  type: "object",
  properties: {
    kind: string,
    ref: string,
    text: string,
    submit: flag,
    key: string,
    values: strings,
    fields: { type: "array", items: { type: "object", properties: { ref: string, value: {} } } },
    fn: string,
  },
  required: ["kind"],
} as const;

const PARAMETERS = {
  type: "object",
  properties: {
    action: { type: "string", enum: [...ACTIONS] },
    targetUrl: string,
    request: REQUEST,
    targetId: { ...string, description: "tab, such as t1" },
    target: { type: "string", enum: ["sandbox", "host", "node"] },
    node: string,
    profile: string,
    ref: string,
    selector: string,
    interactive: flag,
    maxChars: number,
    fullPage: flag,
    paths: strings,
    accept: flag,
    promptText: string,
    timeoutMs: number,
  },
  required: ["action"],
} as const;

/** The tool with which an agent drives a browser. Its code is loaded with the first call. */
export function browserTool(deps: BrowserToolDeps): Tool {
  const mark = createMarkUntrusted(deps.ids);
  return defineTool<BrowserToolDeps>({
    ...BROWSER,
    label: "Browser",
    description: DESCRIPTION,
    parameters: PARAMETERS,
    async asks(params, context) {
      // A browser that is not there is reported by the call itself.
      const wanted = await hostToAllow(deps, { params, context }).catch(() => undefined);
      return (
        wanted && {
          title: `Open ${wanted.host} in the browser?`,
          description: `${wanted.host} is not in browser.ssrfPolicy.hostnameAllowlist. If you allow it, this session may open pages of ${wanted.host} until the gateway restarts; what these pages load from other hosts stays blocked.`,
          severity: "warning",
        }
      );
    },
    run: (made) => async (call) => {
      const { params, context, signal } = call;
      try {
        const action = ACTIONS.find((known) => known === textIn(params, "action"));
        if (action === undefined)
          throw new AppError("INVALID_INPUT", `unknown action "${required(params, "action").slice(0, 40)}"; expected ${ACTIONS.join(", ")}`);
        const browser = await made.choose(await targetOf(made, call), context);
        // The operator has allowed it: a call that has a question runs only then.
        const wanted = await hostToAllow(made, call);
        wanted?.browser.consent?.allow(context.sessionKey, wanted.host);
        const caller: Caller = { key: context.sessionKey, profile: browser.profile ?? textIn(params, "profile"), signal };
        return await HANDLERS[action]({ browser, mark, caller, params });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // The reasons may quote the page.
        return failedOutcome(error.code === "INVALID_INPUT" || error.code === "PERMISSION_DENIED" ? messageOf(error) : mark(messageOf(error), SOURCE), {
          status: "error",
          code: error.code,
          ...error.details,
        });
      }
    },
  }).create(deps);
}
