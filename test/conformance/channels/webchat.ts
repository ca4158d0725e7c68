import { enter, visit, type DeviceClient } from "../../harness/device-client.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Lacks, MakeLab, Received, Said } from "./lab.ts";

/** What the web page does not have, being the gateway's own screen. */
export const WEBCHAT_LACKS: Lacks = {
  edit: "a client cannot change what it sent",
  reaction: "there is nothing to react with in the protocol",
  button: "buttons are drawn by the page and send their text",
  member: "a session has no members that come and go",
  reply: "a message of a client names no other one",
  group: "a session of the page has one person",
  thread: "a session of the page has no threads",
  mediaStored: "a picture stands in the transcript itself",
  mediaOut: "an answer is sent as text, the page fetches what it names",
  textLimit: "an answer is one message, however long",
  rateLimit: "the page gets events as fast as its socket takes them",
  lostReceipt: "an answer is in the transcript, whether or not a client received it",
  missed: "without a gateway nothing can be sent to it",
  account: "it is the gateway itself: there is no account to start",
  pairing: "clients are paired as devices, which has tests of its own",
};

interface Page {
  readonly client: DeviceClient;
}

const textOf = (content: unknown): string => (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("");

/** Answers as a page shows them: one for each run that ended, in the order of their ends. */
function shown(frames: DeviceClient["frames"]): readonly Received[] {
  return frames.flatMap(({ event, payload }) => {
    if (event !== "chat" || payload?.["state"] !== "final" || String(payload["sessionKey"]).includes("aside")) return [];
    const { content } = (payload["message"] ?? { content: [] }) as { readonly content: unknown };
    const text = textOf(content);
    return text === "" ? [] : [{ id: String(payload["runId"]), text }];
  });
}

export const makeWebchat: MakeLab = async ({ channel }) => {
  if (channel !== undefined) throw new Error("webchat has no settings of its own");
  const gateway = await startLabGateway();
  const seen: Received[] = [];
  let page: Page | undefined;
  let count = 0;
  const sent = new Map<string, string>();

  async function open(): Promise<Page> {
    if (page && page.client.ws.readyState === page.client.ws.OPEN) return page;
    await leave();
    page = { client: await enter(gateway.url, { token: gateway.token, scopes: ["operator.read", "operator.write"] }) };
    return page;
  }

  async function leave(): Promise<void> {
    if (!page) return;
    seen.push(...shown(page.client.frames));
    await page.client[Symbol.asyncDispose]();
    page = undefined;
  }

  async function send(client: DeviceClient, id: string, message: string, attachments?: readonly unknown[]): Promise<boolean> {
    const { ok } = await client.request("chat.send", { sessionKey: "main", message, idempotencyKey: id, ...(attachments ? { attachments } : {}) });
    return ok === true;
  }

  return createLab(gateway, {
    async say(text, { by = "owner", file } = {}) {
      const id = `page-${(count += 1)}`;
      sent.set(id, text);
      const attachments = file && [{ type: "image", mimeType: file.mime, fileName: file.name, content: file.data.toString("base64") }];
      if (by === "owner") {
        const { client } = await open();
        if (!(await send(client, id, text, attachments))) throw new Error("the page's message was refused");
        return { id, by };
      }
      // A client that may read, and no more.
      await using stranger = await visit(gateway.url, { token: gateway.token, scopes: ["operator.read"] });
      if (stranger.answer.ok && (await send(stranger, id, text, attachments))) throw new Error("a page without the scope was let in");
      return { id, by };
    },
    received: ({ by = "owner" } = {}) => (by === "owner" ? [...seen, ...shown(page?.client.frames ?? [])] : []),
    connections: () => (page && page.client.ws.readyState === page.client.ws.OPEN ? 1 : 0),
    async redeliver({ id }: Said) {
      const { client } = await open();
      await send(client, id, sent.get(id)!);
    },
    async dropConnection() {
      await leave();
      await open();
    },
    leave,
  });
};

type Parts = Pick<ChannelLab, "say" | "received" | "connections"> & Required<Pick<ChannelLab, "redeliver" | "dropConnection">> & { leave(): Promise<void> };

function createLab(gateway: LabGateway, { leave, ...parts }: Parts): ChannelLab {
  return {
    ...parts,
    channel: "webchat",
    capabilities: { chatTypes: ["direct"] },
    limits: { text: Number.POSITIVE_INFINITY, measure: (text) => text.length },
    gateway,
    strangerMarks: [],
    secrets: [gateway.token],
    isUp: () => Promise.resolve(true),
    traffic: () => 0,
    conflicts: () => 0,
    async [Symbol.asyncDispose]() {
      await leave();
      await gateway[Symbol.asyncDispose]();
    },
  };
}
