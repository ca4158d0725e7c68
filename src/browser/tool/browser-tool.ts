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
import type { Browser, Caller } from "../create-browser.ts";
import type { Picture } from "../files.ts";
import type * as operations from "../operations.ts";
import { required, textIn, type Params } from "../params.ts";

export interface BrowserToolDeps {
  readonly open: () => Promise<{ readonly browser: Browser; readonly operations: typeof operations }>;
  readonly ids: Pick<Ids, "hex">;
  /** A session's tools work inside of a sandbox; `hostAllowed`: its agent may use the browser of this machine all the same. */
  readonly sandbox: (context: ToolContext) => Promise<{ readonly sandboxed: boolean; readonly hostAllowed: boolean }>;
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

const DESCRIPTION = `Drive a web browser. open or navigate with targetUrl shows the page as an outline; [e12] is the ref of an element. act with request uses refs: {kind:"click",ref}, {kind:"type",ref,text,submit}, {kind:"fill",fields:[{ref,value,type}]}, {kind:"select",ref,values}, {kind:"press",key}, hover, drag{startRef,endRef}, resize, wait{text|textGone|selector|url|loadState|fn}, evaluate{fn,ref}, close. The answer to act is what changed (+ new, ~ changed, - gone), so a snapshot is rarely needed; refs stay valid while their element is on the page. snapshot takes selector, interactive, maxChars for a part. upload before or with the click that opens the chooser; dialog arms the answer to the next dialog. Downloads are stored and reported.`;

const MAX_RESULT_CHARS = 8000;

interface Use {
  readonly browser: Browser;
  readonly ops: typeof operations;
  readonly mark: MarkUntrusted;
  readonly caller: Caller;
  readonly params: Params;
}

const SOURCE = { source: "browser" } as const;

const HEADS: Readonly<Record<PageAnswer["shows"], string>> = {
  snapshot: "Page:",
  diff: "Changed (+ new, ~ changed, - gone):",
  same: "Nothing that is shown changed.",
  none: "",
};

/** Everything that a page wrote stands between the marks, its address and title as well. */
function pageOutcome({ mark }: Use, answer: PageAnswer): ToolOutcome {
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
  return textOutcome(`${head}${body}`, { ...rest, targetId, url, shows, events, format: "ai" });
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

const HANDLERS: Readonly<Record<Action, (use: Use) => Promise<ToolOutcome>>> = {
  status: async ({ browser, caller }) => jsonOutcome(browser.status(caller.profile)),
  async start({ browser, caller }) {
    await browser.session(caller.profile).start();
    return jsonOutcome(browser.status(caller.profile));
  },
  async stop({ browser, caller }) {
    await browser.session(caller.profile).stop();
    return jsonOutcome(browser.status(caller.profile));
  },
  profiles: async ({ browser }) => jsonOutcome({ profiles: browser.profiles() }),
  async tabs(use) {
    const tabs = await use.ops.tabRows(use);
    return marked(use, { tabs }, { tabCount: tabs.length });
  },
  open: async (use) => pageOutcome(use, await use.ops.open(use)),
  navigate: async (use) => pageOutcome(use, await use.ops.navigate(use)),
  focus: async (use) => jsonOutcome(await use.ops.focus(use)),
  close: async (use) => jsonOutcome(await use.ops.closeTab(use)),
  async snapshot(use) {
    const { picture, nodes, ...answer } = await use.ops.snapshot(use);
    if (nodes) return marked(use, { url: answer.url, nodes }, { ok: true, format: "aria", targetId: answer.targetId, url: answer.url });
    const outcome = pageOutcome(use, answer);
    if (!picture) return outcome;
    const { content } = pictureOutcome("With the refs beside their elements:", picture);
    return { ...outcome, content: [...outcome.content, ...content] };
  },
  async screenshot(use) {
    const { targetId, ...picture } = await use.ops.screenshot(use);
    return pictureOutcome(`tab ${targetId}`, picture);
  },
  async console(use) {
    const { targetId, messages } = await use.ops.consoleOf(use);
    return marked(use, { messages }, { targetId, messageCount: messages.length });
  },
  async pdf(use) {
    const { path, targetId } = await use.ops.pdf(use);
    return textOutcome(`FILE:${path}`, { path, targetId });
  },
  upload: async (use) => pageOutcome(use, await use.ops.upload(use)),
  dialog: async (use) => jsonOutcome(await use.ops.armDialog(use)),
  async act(use) {
    const { request } = use.params;
    if (!isRecord(request)) throw new AppError("INVALID_INPUT", "request required: {kind, …}");
    return pageOutcome(use, await use.ops.perform({ ...use, params: { targetId: use.params["targetId"], ...request } }));
  },
};

/** Where the browser is to be: on this machine, unless the session's sandbox forbids it. */
async function checkTarget({ sandbox }: BrowserToolDeps, { params, context }: ToolCall): Promise<void> {
  const target = textIn(params, "target");
  if (target === "node" || textIn(params, "node") !== undefined)
    throw new AppError("UNAVAILABLE", "browsers of nodes are not available in this version; leave target and node out");
  if (target !== undefined && target !== "host" && target !== "sandbox")
    throw new AppError("INVALID_INPUT", `target must be host, sandbox or node, not "${target.slice(0, 40)}"`);
  const { sandboxed, hostAllowed } = await sandbox(context);
  if (!sandboxed && target !== "sandbox") return;
  if (target === "sandbox" || !hostAllowed)
    throw new AppError(
      "UNAVAILABLE",
      sandboxed && target !== "sandbox"
        ? "this session is sandboxed and may not use the browser of this machine: the owner can allow it with agents.defaults.sandbox.browser.allowHostControl"
        : "a browser inside of the sandbox is not available in this version; leave target out",
    );
}

const string = { type: "string" } as const;
const number = { type: "number" } as const;
const flag = { type: "boolean" } as const;
const strings = { type: "array", items: string } as const;

const REQUEST = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate", "close"] },
    ref: string,
    text: string,
    submit: flag,
    slowly: flag,
    doubleClick: flag,
    button: { type: "string", enum: ["left", "right", "middle"] },
    modifiers: strings,
    key: string,
    startRef: string,
    endRef: string,
    values: strings,
    fields: { type: "array", items: { type: "object", properties: { ref: string, value: {}, type: string }, required: ["ref"] } },
    width: number,
    height: number,
    timeMs: number,
    textGone: string,
    selector: string,
    url: string,
    loadState: { type: "string", enum: ["load", "domcontentloaded", "networkidle"] },
    fn: string,
    timeoutMs: number,
  },
  required: ["kind"],
} as const;

const PARAMETERS = {
  type: "object",
  properties: {
    action: { type: "string", enum: [...ACTIONS] },
    target: { type: "string", enum: ["sandbox", "host", "node"] },
    node: string,
    profile: string,
    targetUrl: string,
    targetId: { ...string, description: "Tab, such as t1; the current one when absent" },
    request: REQUEST,
    ref: string,
    element: { ...string, description: "CSS selector" },
    selector: { ...string, description: "snapshot: CSS selector of a part" },
    frame: string,
    interactive: flag,
    compact: flag,
    depth: number,
    limit: number,
    maxChars: number,
    mode: { type: "string", enum: ["efficient"] },
    snapshotFormat: { type: "string", enum: ["aria", "ai"] },
    refs: { type: "string", enum: ["role", "aria"] },
    labels: flag,
    fullPage: flag,
    type: { type: "string", enum: ["png", "jpeg"] },
    level: string,
    paths: strings,
    inputRef: string,
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
    run: (made) => async (call) => {
      const { params, context, signal } = call;
      try {
        const action = ACTIONS.find((known) => known === textIn(params, "action"));
        if (action === undefined)
          throw new AppError("INVALID_INPUT", `unknown action "${required(params, "action").slice(0, 40)}"; expected ${ACTIONS.join(", ")}`);
        await checkTarget(made, call);
        const { browser, operations: ops } = await made.open();
        const caller: Caller = { key: context.sessionKey, profile: textIn(params, "profile"), signal };
        return await HANDLERS[action]({ browser, ops, mark, caller, params });
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
