import { startModelServer, STREAMS, type ScriptedAnswer } from "../../fakes/model-server/index.ts";

/** What the model was asked. */
export interface ModelRequest {
  /** Text of the last message that was not the model's own. */
  readonly user: string;
  /** Everything, as it was sent. */
  readonly body: string;
  readonly images: number;
}

/** Calls with a text before them. */
export interface LabCalls {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: object }[];
}

/** A provider that answers with the marked words of the request: `w-apple` is one. */
export interface LabModel extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** From now on it answers so: a text, or a text with calls; undefined gives the usual way back. */
  answers(how: ((request: ModelRequest) => string | LabCalls | undefined) | undefined): void;
  /** Requests that fit are taken and never answered. */
  holds(fits: ((request: ModelRequest) => boolean) | undefined): void;
  /** What it thinks before each answer. */
  thinks(thought: string | undefined): void;
  /** Between two pieces of its answer. */
  pace(gapMs: number | undefined): void;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
}
interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Part[] | null }[];
}

const API = "openai-completions";

/** The words of a text that are meant for tests, each once. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.match(/\bw-[a-z0-9]+/g) ?? [])];
}

function read(body: string): ModelRequest {
  const { messages } = JSON.parse(body) as Sent;
  const last = messages.findLast(({ role }) => role === "user");
  const parts: readonly Part[] = typeof last?.content === "string" ? [{ type: "text", text: last.content }] : (last?.content ?? []);
  return { user: parts.map(({ text = "" }) => text).join("\n"), body, images: parts.filter(({ type }) => type === "image_url").length };
}

/** An answer comes in pieces of this length. */
const PIECE = 64;

export async function startLabModel(): Promise<LabModel> {
  const requests: ModelRequest[] = [];
  let how: ((request: ModelRequest) => string | LabCalls | undefined) | undefined;
  let held: ((request: ModelRequest) => boolean) | undefined;
  let thought: string | undefined;
  let gapMs: number | undefined;
  const server = await startModelServer(({ body }) => {
    const request = read(body);
    requests.push(request);
    if (held?.(request)) return { kind: "silent" };
    const given = how?.(request) ?? `Heard ${wordsOf(request.user).join(" ") || "nothing"}.`;
    const { text, calls } = typeof given === "string" ? { text: given, calls: [] } : given;
    const answer: ScriptedAnswer = {
      ...(thought === undefined ? {} : { thinking: [thought] }),
      text: text.match(new RegExp(`[^]{1,${PIECE}}`, "g")) ?? [""],
      ...(calls.length === 0
        ? {}
        : { toolCalls: calls.map(({ name, args }, at) => ({ id: `call-${requests.length}-${at}`, name, arguments: [JSON.stringify(args)] })) }),
    };
    return { kind: "stream", frames: STREAMS[API]!(answer), ...(gapMs === undefined ? {} : { gapMs }) };
  });
  return {
    url: server.url,
    requests,
    answers(next) {
      how = next;
    },
    holds(fits) {
      held = fits;
    },
    thinks(next) {
      thought = next;
    },
    pace(ms) {
      gapMs = ms;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
