/** The REST form of a container around signal-cli (`MODE=json-rpc`): requests, and a WebSocket for what comes in. */
import type { Answer, Asked, FakeSocket } from "../../../src/plugin-testing/index.ts";
import { chatOf, deliver, type NativeDeps } from "./native.ts";
import { fileIn, listParam, numberParam, type Params, Refused, textParam } from "./objects.ts";
import type { Draft, Envelope } from "./world.ts";

const SIGNS: Readonly<Record<string, string>> = { "**": "BOLD", "*": "ITALIC", "~": "STRIKETHROUGH", "`": "MONOSPACE", "||": "SPOILER" };

/** Text with markers → text and ranges. No sign stands for itself. */
export function readStyled(message: string): { readonly text: string; readonly styles: readonly string[] } {
  const open: { readonly sign: string; readonly at: number }[] = [];
  const styles: string[] = [];
  let text = "";
  for (let at = 0; at < message.length;) {
    const two = message.slice(at, at + 2);
    const sign = [two, two[0]!].find((candidate) => SIGNS[candidate] !== undefined);
    if (sign === undefined) {
      text += message[at];
      at += 1;
      continue;
    }
    const began = open.findLast((mark) => mark.sign === sign);
    if (began) {
      open.splice(open.indexOf(began), 1);
      styles.push(`${began.at}:${text.length - began.at}:${SIGNS[sign]}`);
    } else open.push({ sign, at: text.length });
    at += sign.length;
  }
  return { text, styles };
}

/** `group.<base64 of the id>` names a group, anything else a person. */
function targetOf(recipient: string | undefined): Params {
  if (recipient === undefined) return {};
  return recipient.startsWith("group.") ? { groupId: Buffer.from(recipient.slice(6), "base64").toString("utf8") } : { recipient: [recipient] };
}

function draftOf(fields: Params): Draft {
  const timestamp = numberParam(fields, "quote_timestamp");
  const raw = textParam(fields, "message") ?? "";
  const { text, styles } = fields["text_mode"] === "styled" ? readStyled(raw) : { text: raw, styles: [] };
  const mentions = (Array.isArray(fields["mentions"]) ? (fields["mentions"] as Params[]) : []).map(
    ({ start, length, author }) => `${String(start)}:${String(length)}:${String(author)}`,
  );
  return {
    text,
    styles,
    mentions,
    files: listParam(fields, "base64_attachments").map(fileIn),
    quote:
      timestamp === undefined ? undefined : { timestamp, author: textParam(fields, "quote_author") ?? "", message: textParam(fields, "quote_message") ?? "" },
  };
}

type Handler = (call: { readonly number: string; readonly rest: string; readonly fields: Params }) => Answer;

function routes(deps: NativeDeps): readonly (readonly [line: string, handler: Handler])[] {
  const { world, accounts, typing, receipts } = deps;
  const chat = (fields: Params): string => chatOf(world, targetOf(textParam(fields, "recipient")));
  const reaction = (fields: Params) => {
    const author = textParam(fields, "target_author") ?? "";
    return {
      chat: chat(fields),
      emoji: textParam(fields, "reaction") ?? "",
      author: world.people.find(author)?.uuid ?? author,
      timestamp: Number(fields["timestamp"]),
    };
  };
  const done = (): Answer => ({ status: 204 });
  return [
    [
      "GET /v1/about",
      () => ({ body: { versions: ["v1", "v2"], build: 2, mode: "json-rpc", version: "0.98", capabilities: { "v2/send": ["quotes", "mentions"] } } }),
    ],
    ["GET /v1/health", done],
    ["GET /v1/accounts", () => ({ body: [...accounts] })],
    [
      "POST /v2/send",
      ({ fields }) => {
        if (!accounts.has(textParam(fields, "number") ?? "")) return { status: 400, body: { error: "Specified account does not exist" } };
        const [recipient] = listParam(fields, "recipient");
        const to = chatOf(world, targetOf(recipient));
        return { status: 201, body: { timestamp: String(deliver(deps, to, draftOf(fields), numberParam(fields, "edit_timestamp"))) } };
      },
    ],
    [
      "POST /v1/reactions/:number",
      ({ fields }) => {
        world.setReaction(reaction(fields), true);
        return done();
      },
    ],
    [
      "DELETE /v1/reactions/:number",
      ({ fields }) => {
        world.setReaction(reaction(fields), false);
        return done();
      },
    ],
    [
      "POST /v1/receipts/:number",
      ({ fields }) => {
        receipts.push({ to: chat(fields), timestamps: [Number(fields["timestamp"])], type: textParam(fields, "receipt_type") ?? "" });
        return done();
      },
    ],
    ...(["PUT", "DELETE"] as const).map((method): readonly [string, Handler] => [
      `${method} /v1/typing-indicator/:number`,
      ({ fields }) => {
        typing.push({ chat: chat(fields), stop: method === "DELETE" });
        return done();
      },
    ]),
    [
      "DELETE /v1/remote-delete/:number",
      ({ fields }) =>
        world.remove(chat(fields), Number(fields["timestamp"]))
          ? { status: 201, body: { timestamp: String(world.now()) } }
          : { status: 400, body: { error: "Failed to delete" } },
    ],
    [
      "GET /v1/attachments/:id",
      ({ number: id }) => {
        const file = world.files.get(id);
        return file ? { body: file.data, headers: { "content-type": file.mime } } : { status: 404, body: { error: "no such attachment" } };
      },
    ],
    [
      "GET /v1/groups/:number",
      () => ({
        body: world.groups().map(({ id, name, members }) => ({
          id: `group.${Buffer.from(id).toString("base64")}`,
          internal_id: id,
          name,
          members: [...members],
          blocked: false,
        })),
      }),
    ],
  ];
}

export function createContainer(deps: NativeDeps) {
  const table = routes(deps).map(([line, handler]) => {
    const [method, path = ""] = line.split(" ");
    return { method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "([^/]+)")}$`), handler };
  });
  const sockets = new Set<FakeSocket>();
  return {
    handle({ method, path, fields }: Asked): Answer | undefined {
      for (const route of table) {
        const match = route.method === method ? route.pattern.exec(decodeURIComponent(path)) : null;
        if (!match) continue;
        try {
          return route.handler({ number: match[1] ?? "", rest: match[2] ?? "", fields });
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return { status: error.code === -5 ? 429 : 400, body: { error: error.message } };
        }
      }
      return undefined;
    },
    upgrade: ({ path }: Asked): number | undefined => (/^\/v1\/receive\/[^/]+$/.test(path) ? undefined : 404),
    socket(socket: FakeSocket): void {
      sockets.add(socket);
      socket.onClose(() => sockets.delete(socket));
    },
    /** What comes while nobody listens is lost. */
    emit(envelope: Envelope): void {
      for (const socket of sockets) socket.send({ envelope, account: deps.world.me.number });
    },
    raw(text: string): void {
      for (const socket of sockets) socket.send(text);
    },
    count: (): number => sockets.size,
  };
}
