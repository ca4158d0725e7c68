/** Nodes in the palette: those that ask, and those that are there. */
import { html, nothing } from "lit";
import { nodeName, type NodeLine, type NodeRequest } from "../../pages/nodes/node-facts.ts";
import { offersOf } from "../../pages/nodes/node-offers.ts";
import { t } from "../../words/words.ts";
import type { PageContext } from "../context.ts";
import { place } from "../router.ts";
import type { Entry, Group } from "./entries.ts";
import { attempt } from "./sources.ts";

async function approve(context: PageContext, request: NodeRequest): Promise<void> {
  const { dialogs, link, router, toasts } = context;
  const { name, kind, requestId, remoteIp } = request;
  const from = remoteIp === undefined ? "" : t`It asks from ${remoteIp}. `;
  const offers = offersOf(request);
  const body = html`<p>${from}${t("A node receives the events of all chats. Approve only a machine that may read them.")}</p>
    ${
      offers.length === 0
        ? nothing
        : html`<p>${t("Agents could ask it to")}</p>
            <ul>
              ${offers.map(({ words }) => html`<li>${words}</li>`)}
            </ul>`
    }`;
  if (!(await dialogs.confirm({ title: t`Approve node ${name}?`, body, yes: t("Approve") }))) return;
  await attempt(context, async () => {
    if (kind === "device") await link.request("device.pair.approve", { requestId });
    else await link.request("node.pair.approve", { requestId });
    toasts.say(t`${name} was approved.`, { label: t("Show"), run: () => router.go("nodes") });
  });
}

async function rename(context: PageContext, { nodeId, displayName: before }: NodeLine, displayName: string): Promise<void> {
  const set = (name: string): Promise<unknown> => context.link.request("node.rename", { nodeId, displayName: name });
  await set(displayName);
  const undo = before === undefined ? undefined : { label: t("Undo"), run: () => void attempt(context, () => set(before)) };
  context.toasts.say(t`The node is now called ${displayName}.`, undo);
}

/** Nodes that ask to be approved. Each is a decision of its own, after a question. */
export const nodeRequestEntries = (context: PageContext, requests: readonly NodeRequest[]): readonly Entry[] =>
  requests.map((request) => ({
    id: `node-request/${request.requestId}`,
    group: "attention",
    icon: "node",
    label: t`Approve node ${request.name}…`,
    hint: request.remoteIp,
    needsPerson: true,
    run: () => approve(context, request),
  }));

/** What can be done with a node. Renaming can be undone. */
export function nodeActions(context: PageContext, node: NodeLine, group: Group = "object", label = t("Rename…")): readonly Entry[] {
  if (!node.paired || !context.link.may("operator.pairing")) return [];
  const entry = (id: string, text: string, run: () => unknown, more: Partial<Entry> = {}): Entry => ({
    id: `node/${node.nodeId}/${id}`,
    group,
    icon: "edit",
    label: text,
    run,
    ...more,
  });
  const ask: Entry["ask"] = {
    hint: t("New name"),
    value: nodeName(node),
    entry: (name) => entry("rename-to", t`Rename to “${name}”`, () => attempt(context, () => rename(context, node, name))),
  };
  return [entry("rename", label, () => undefined, { ask })];
}

/** A node, and its renaming as an entry of its own: it is found by what it does. */
export const nodeEntries = (context: PageContext, node: NodeLine): readonly Entry[] => [
  {
    id: `node/${node.nodeId}`,
    group: "things",
    icon: "node",
    label: nodeName(node),
    hint: node.connected ? t("Node, online") : t("Node, offline"),
    run: () => context.router.go(place("nodes", [node.nodeId])),
    more: () => nodeActions(context, node),
  },
  ...nodeActions(context, node, "commands", t`Rename node ${nodeName(node)}…`),
];
