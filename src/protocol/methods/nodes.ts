import { method } from "../method.ts";
import { DecideParamsSchema, nodeFields, NodePairRequestSchema, nodeRequestFields, pairedFields } from "../pairing.ts";
import {
  amount,
  anything,
  choice,
  closed,
  done,
  effect,
  filled,
  flag,
  idempotencyKey,
  list,
  map,
  maybe,
  moment,
  none,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

const entry = {
  nodeId: filled(),
  ...nodeFields,
  caps: texts(),
  commands: texts(),
  pathEnv: maybe(text()),
  permissions: maybe(map(flag())),
  connectedAtMs: maybe(moment()),
  /** Of a node that is not connected: when it last was, as far as that is known. */
  lastSeenAtMs: maybe(moment()),
  paired: flag(),
  connected: flag(),
};

const PairedNode = open({ nodeId: filled(), token: filled(), ...nodeFields, ...pairedFields });

const pairing = {
  "node.pair.request": method({
    access: "operator.pairing",
    params: effect(nodeRequestFields),
    result: closed({ status: choice(["pending"]), request: NodePairRequestSchema, created: flag() }),
    effect: true,
    module: "nodes",
    summary: "Asks to pair a node. Kept apart from device pairing: it does not decide who may connect.",
  }),
  "node.pair.list": method({
    access: "operator.pairing",
    params: none(),
    result: closed({ pending: list(NodePairRequestSchema), paired: list(PairedNode) }),
    effect: false,
    module: "nodes",
    summary: "Nodes that wait and nodes that are paired.",
  }),
  "node.pair.approve": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), node: PairedNode }),
    effect: true,
    module: "nodes",
    summary: "Pairs a waiting node.",
  }),
  "node.pair.reject": method({
    access: "operator.pairing",
    params: DecideParamsSchema,
    result: closed({ requestId: filled(), nodeId: filled() }),
    effect: true,
    module: "nodes",
    summary: "Turns a waiting node away.",
  }),
  "node.pair.verify": method({
    access: "operator.pairing",
    params: closed({ nodeId: filled(), token: filled() }),
    result: closed({ ok: flag(), node: maybe(PairedNode) }),
    effect: false,
    module: "nodes",
    summary: "Checks a node's token.",
  }),
};

/** Devices that lend their hands and senses. */
export const nodesMethods = {
  ...pairing,
  "node.list": method({
    access: "operator.read",
    params: none(),
    result: closed({ ts: moment(), nodes: list(closed(entry)) }),
    effect: false,
    module: "nodes",
    summary: "All nodes, connected or paired.",
  }),
  "node.describe": method({
    access: "operator.read",
    params: closed({ nodeId: filled() }),
    result: closed({ ts: moment(), ...entry }),
    effect: false,
    module: "nodes",
    summary: "One node.",
  }),
  "node.invoke": method({
    access: "operator.write",
    params: closed({
      nodeId: filled(),
      command: filled(),
      params: maybe(anything()),
      timeoutMs: maybe(amount({ default: 30_000 })),
      idempotencyKey: idempotencyKey(),
    }),
    result: closed({ ok: flag(), nodeId: filled(), command: filled(), payload: maybe(anything()), payloadJSON: maybe(orNull(text())) }),
    effect: true,
    module: "nodes",
    summary: "Runs a command on a node that it declared and that is allowed there.",
  }),
  "node.invoke.result": method({
    access: "node",
    params: closed({
      id: filled(),
      nodeId: filled(),
      ok: flag(),
      payload: maybe(anything()),
      payloadJSON: maybe(orNull(text())),
      error: maybe(orNull(closed({ code: maybe(text()), message: maybe(text()) }))),
    }),
    result: done({ ignored: maybe(flag()) }),
    effect: false,
    module: "nodes",
    summary: "A node's answer to `node.invoke.request`; a late one is ignored.",
  }),
  "node.event": method({
    access: "node",
    params: effect({ event: filled(), payload: maybe(anything()), payloadJSON: maybe(text()) }),
    result: done({}),
    effect: true,
    module: "nodes",
    summary: "Something that happened on a node: speech, a request to an agent, a finished command.",
  }),
  "node.rename": method({
    access: "operator.pairing",
    params: effect({ nodeId: filled(), displayName: filled() }),
    result: closed({ nodeId: filled(), displayName: filled() }),
    effect: true,
    module: "nodes",
    summary: "Gives a paired node another name.",
  }),
  "push.test": method({
    access: "operator.write",
    params: effect({
      nodeId: filled(),
      title: maybe(text()),
      body: maybe(text()),
      environment: maybe(choice(["sandbox", "production"])),
    }),
    result: open({ ok: flag(), status: number(), apnsId: maybe(text()), reason: maybe(text()) }),
    effect: true,
    module: "nodes",
    summary: "Sends a test notification to a node.",
    advertised: false,
  }),
};
